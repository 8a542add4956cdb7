// Fibonacci by recursion: as many calls as the argument asks for.

#include "program.h"

APART static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

int main(int argc, char **argv) { printf("%ld\n", fib(argc > 1 ? atol(argv[1]) : 15)); }
