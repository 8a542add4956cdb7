// Known times: sleeps and spins that measure themselves. TRUTH receives "function nanoseconds", a line a call.

#define _GNU_SOURCE
#include <time.h>

#include "program.h"

static long begun;

QUIET static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct {
    const char *function;
    long time;
} measured[64];
static int count;

QUIET static void note(const char *function, long begin) {
    measured[count].function = function;
    measured[count++].time = now() - begin;
}

APART static void sleep_20ms(void) {
    long begin = now();
    struct timespec time = {0, 20000000};
    nanosleep(&time, NULL);
    note("sleep_20ms", begin);
}

APART static void spin_10ms(void) {
    long begin = now();
    while (now() - begin < 10000000) {
    }
    note("spin_10ms", begin);
}

APART static void spin_1ms(void) {
    long begin = now();
    while (now() - begin < 1000000) {
    }
    note("spin_1ms", begin);
}

APART static void both(void) {
    long begin = now();
    spin_10ms();
    sleep_20ms();
    spin_1ms();
    note("both", begin);
}

int main(void) {
    begun = now();
    for (int i = 0; i < 4; i++) both();
    spin_1ms();
    note("main", begun);
    puts("done");
    FILE *truth = truth_open();
    if (!truth) return 0;
    for (int i = 0; i < count; i++) fprintf(truth, "%s %ld\n", measured[i].function, measured[i].time);
    fclose(truth);
}
