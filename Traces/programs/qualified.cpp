// Functions whose names end alike: in namespaces, classes and templates, as operators. Some are defined in a header.

#include "qualified.h"

static volatile long sink;

namespace app {
APART static long fib(int number) { return number < 2 ? lib::small(number) : fib(number - 1) + fib(number - 2); }
}

namespace lib {
APART static long fib(int number) { return small(number) + app::fib(number); }
}

namespace {
APART long fib(long number) { return number + lib::small(number); }
}

struct Number {
    long value;
    APART bool operator==(const Number &other) const { return lib::small(value) == lib::small(other.value); }
    APART long operator()(long factor) const { return value * factor; }
    APART long operator*(long factor) const { return (*this)(factor); }
};

APART static long work(long round) {
    box::Stack<int> numbers;
    box::Stack<char> letters;
    numbers.push_back(static_cast<int>(round));
    letters.push_back('a');
    Number one{round}, two{2};
    return app::fib(4) + lib::fib(2) + fib(3L) + (one == two) + one(3) + two * 4;
}

int main() {
    for (long round = 0; round < 3; round++) sink = sink + work(round);
    return 0;
}
