// A program of a static and a shared library: 3 squares, 4 words.
#include <cstdio>

#include "shapes.h"
#include "words.h"

int main() {
    shapes::Square one(1), two(2), three(3);
    std::printf("%g %d\n", shapes::total({&one, &two, &three}), count_words("to be or not"));
}
