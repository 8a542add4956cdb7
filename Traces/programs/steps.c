// Short functions that are called much, one with a name that is a part of another's, and longer ones that call them.
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

NOINLINE unsigned step(unsigned x) { return x * 16807 % 2147483647; }
NOINLINE unsigned step_twice(unsigned x) { return step(step(x)); }

NOINLINE unsigned block(unsigned x) {
    for (int i = 0; i < 100; i++) x = i % 10 ? step(x) : step_twice(x);
    return x;
}

NOINLINE unsigned run(unsigned x) {
    for (int i = 0; i < 200; i++) x = block(x);
    return x;
}

int main(void) { printf("%u\n", run(1)); }
