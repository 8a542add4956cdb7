// What the programs here share: words for the compiler, and a note of what really happened.

#ifndef PROGRAM_H
#define PROGRAM_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// Not traced: the program's own bookkeeping.
#ifdef __clang__
#define QUIET __attribute__((no_instrument_function, xray_never_instrument))
#else
#define QUIET __attribute__((no_instrument_function))
#endif

// One machine frame a call, so that the call stack is the one the source says.
#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

// The end of a computation, kept.
#define KEEP(value) __asm__ __volatile__("" : : "g"(value) : "memory")

// Opens the file in which a program tells the truth about its own run; NULL when nobody asked.
QUIET static inline FILE *truth_open(void) {
    const char *path = getenv("TRUTH");
    return path ? fopen(path, "we") : NULL;
}

#endif
