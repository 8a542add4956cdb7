// A recursive-descent parser of nested arrays, 4,000 deep or as the argument says.

#include <string.h>

#include "program.h"

static const char *cursor;

APART static int peek(void) { return *cursor; }

APART static int take(void) { return *cursor++; }

APART static long number(void) {
    long value = 0;
    while (peek() >= '0' && peek() <= '9') value = value * 10 + take() - '0';
    return value;
}

static long value(void);

APART static long array(void) {
    long sum = 0;
    take();
    while (peek() != ']') {
        sum += value();
        if (peek() == ',') take();
    }
    take();
    return sum;
}

APART static long value(void) { return peek() == '[' ? array() : number(); }

int main(int argc, char **argv) {
    long depth = argc > 1 ? atol(argv[1]) : 4000;
    char *text = malloc((size_t)depth * 4 + 16), *end = text;
    for (long i = 0; i < depth; i++) end = stpcpy(end, i % 3 ? "[" : "[1,");
    end = stpcpy(end, "7");
    memset(end, ']', (size_t)depth);
    end[depth] = 0;
    long sum = 0;
    for (int i = 0; i < 3; i++) {
        cursor = text;
        sum += value();
    }
    printf("sum %ld\n", sum);
}
