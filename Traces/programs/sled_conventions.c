// Calls by other conventions than C's, and tail calls through pointers: arguments, targets and results in any register.
// Prints what was worked out; clang's attributes are looked for, because versions differ in them.
#include <stdio.h>

#define APART __attribute__((noinline))
#if defined(__has_attribute) && defined(__clang__)
#if __has_attribute(preserve_none)
#define NONE __attribute__((preserve_none))
#endif
#if __has_attribute(preserve_most)
#define MOST __attribute__((preserve_most))
#endif
#if __has_attribute(regcall)
#define MANY __attribute__((regcall))
#endif
#if __has_attribute(vectorcall)
#define WIDE __attribute__((vectorcall))
#endif
#endif
#ifndef NONE
#define NONE
#endif
#ifndef MOST
#define MOST
#endif
#ifndef MANY
#define MANY
#endif
#ifndef WIDE
#define WIDE
#endif

typedef long numbers[12];
struct pair {
    long first, second;
};
struct three {
    double a, b, c;
};
typedef float four __attribute__((vector_size(16)));

struct comparer {
    void *user;
    long (*compare)(void *, long, long, long, long, long);
};
APART long sums(void *user, long a, long b, long c, long d, long e) {
    *(long *)user += a;
    return a + 2 * b + 3 * c + 4 * d + 5 * e;
}
// The target is in the one register that holds no argument.
APART long passes_on(struct comparer *c, long a, long b, long d, long e, long f) {
    return c->compare(c->user, a, b, d, e, f);
}
APART NONE long takes_all(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,
                          long l) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}
static long kept;
APART MOST void keeps_most(long a, long b) { kept += a * b; }
APART MANY struct pair takes_many(long a, long b, long c, long d, long e, long f, long g, long h) {
    return (struct pair){a + b + c + d, e * f * g * h};
}
APART WIDE struct three takes_wide(double a, double b, double c, double d, double e, double f) {
    return (struct three){a + b, c * d, e - f};
}
APART long double long_double(long double a, long double b) { return a / b; }
APART four vectors(four a, four b, double c) { return a * b + (float)c; }
APART int sign(int a, int b) {
    if (a < b) return sums(&kept, a, b, 1, 1, 1) > 0;
    return a == b ? 2 : 3;
}

int main(void) {
    long user = 0, sum = 0;
    double real = 0;
    long double longest = 1;
    four some = {1, 2, 3, 4};
    struct comparer c = {&user, sums};
    for (long i = 0; i < 20; i++) {
        sum += passes_on(&c, i, i + 1, i + 2, i + 3, i + 4);
        sum += takes_all(i, i + 1, 2, 3, 4, 5, 6, 7, 8, 9, i * 3, i * 5);
        keeps_most(i, sum % 7);
        struct pair pair = takes_many(i, 2, 3, 4, 5, 6, 7, i);
        struct three three = takes_wide((double)i, 2, 3, 4, 5, 6);
        sum += pair.first + pair.second + sign((int)i, 10);
        real += three.a + three.b + three.c;
        longest += long_double(longest, 3);
        some = vectors(some, some, 0.25) - some;
    }
    printf("%ld %ld %ld %g %Lg %g %g\n", sum, user, kept, real, longest, (double)some[0], (double)some[3]);
}
