// Eight threads call functions while all sleds are opened and closed, as often as asked for. Prints how often a call's
// result was wrong, and how often sleds could not be changed. Without the runtime, nothing is opened.
//
//   sleds_load [times]

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "program.h"

static int is_over;
static long wrong, calls;

APART static long leaf(long a, double b) {
    KEEP(a);
    return a + (long)b;
}
APART static long tail(long a, double b) {
    KEEP(a);
    return leaf(a * 3, b * 2);
}
APART static long nested(long level) {
    KEEP(level);
    return level ? nested(level - 1) + tail(level, 1.0) : leaf(1, 2.0);
}
APART static void *work(void *nothing) {
    long done = 0;
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        // 3 + the sum of 3i + 2 for i up to 10
        if (nested(10) != 188) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
        done++;
    }
    __atomic_fetch_add(&calls, done, __ATOMIC_RELAXED);
    return nothing;
}

int main(int count, char **arguments) {
    long times = count > 1 ? atol(arguments[1]) : 100, refused = 0;
    int (*open)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "fathom_open_sleds");
    int (*close)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "fathom_close_sleds");
    pthread_t threads[8];
    for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (long i = 0; open && close && i < times; i++) {
        refused += !close();
        if (i % 64 == 0) nanosleep(&(struct timespec){0, 1000000}, NULL);
        refused += !open();
        if (i % 64 == 32) nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    printf("wrong %ld, refused %ld%s\n", wrong, refused, calls > 0 ? "" : ", nothing was called");
    return 0;
}
