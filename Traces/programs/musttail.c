// Guaranteed tail calls (clang): a frame is left before the call that replaces it.

#include "program.h"

#ifdef __clang__
#define TAIL __attribute__((musttail))
#else
#define TAIL
#endif

static long even(long n);

APART static long odd(long n) {
    if (n == 0) return 0;
    TAIL return even(n - 1);
}

APART static long even(long n) {
    if (n == 0) return 1;
    TAIL return odd(n - 1);
}

int main(void) { printf("%ld\n", even(10000) + odd(10001)); }
