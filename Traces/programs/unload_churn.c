// Calls many small functions, while another thread loads and unloads a library again and again. With LIBRARY, it is
// that library, which has as many functions.
//   unload_churn LIBRARY

#include <dlfcn.h>
#include <pthread.h>

#include "program.h"

static volatile long count;

// clang-format off
#define FUNCTION(a, b, c) APART static void function_##a##b##c(void) { count += a + b + c; }
#define NAME(a, b, c) function_##a##b##c,
#define TEN(DO, a, b) DO(a, b, 0) DO(a, b, 1) DO(a, b, 2) DO(a, b, 3) DO(a, b, 4) DO(a, b, 5) DO(a, b, 6) DO(a, b, 7) DO(a, b, 8) DO(a, b, 9)
#define HUNDRED(DO, a) TEN(DO, a, 0) TEN(DO, a, 1) TEN(DO, a, 2) TEN(DO, a, 3) TEN(DO, a, 4) TEN(DO, a, 5) TEN(DO, a, 6) TEN(DO, a, 7) TEN(DO, a, 8) TEN(DO, a, 9)
#define ALL(DO) HUNDRED(DO, 0) HUNDRED(DO, 1) HUNDRED(DO, 2) HUNDRED(DO, 3) HUNDRED(DO, 4) HUNDRED(DO, 5) HUNDRED(DO, 6) HUNDRED(DO, 7) HUNDRED(DO, 8) HUNDRED(DO, 9)
// clang-format on
ALL(FUNCTION)
extern void (*const functions[1000])(void);
void (*const functions[1000])(void) = {ALL(NAME)};

#ifndef LIBRARY
static volatile int stops;

QUIET static void *load(void *library) {
    while (!stops) {
        void *handle = dlopen(library, RTLD_NOW);
        if (handle) dlclose(handle);
    }
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    pthread_t thread;
    pthread_create(&thread, NULL, load, argv[1]);
    for (int round = 0; round < 4000; round++)
        for (int i = 0; i < 1000; i++) functions[i]();
    stops = 1;
    pthread_join(thread, NULL);
    puts("done");
}
#endif
