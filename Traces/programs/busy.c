// busy THREADS MS: each thread spins for MS of its own CPU time, in calls of 1 ms each, which call short ones all the
// time. TRUTH receives the wall time of all spins, measured by themselves, and the CPU time of all threads, in ns.

#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#include "program.h"

static int spins;
static long wall, processor;

QUIET static long now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

APART static int leaf(int i) { return i * 7 + 1; }

APART static long spin(void) {
    long begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    volatile int sum = 0;
    while (now(CLOCK_THREAD_CPUTIME_ID) - cpu < 1000000)
        for (int i = 0; i < 500; i++) sum += leaf(i);
    return now(CLOCK_MONOTONIC) - begin;
}

static void *run(void *unused) {
    long sum = 0;
    for (int i = 0; i < spins; i++) sum += spin();
    __atomic_fetch_add(&wall, sum, __ATOMIC_RELAXED);
    __atomic_fetch_add(&processor, now(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
    return unused;
}

int main(int count, char **arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 2;
    spins = count > 2 ? atoi(arguments[2]) : 100;
    pthread_t started[64];
    for (int i = 0; i < threads; i++) pthread_create(&started[i], NULL, run, NULL);
    for (int i = 0; i < threads; i++) pthread_join(started[i], NULL);
    FILE *truth = truth_open();
    if (!truth) return 0;
    fprintf(truth, "%ld %ld\n", wall, processor);
    fclose(truth);
}
