// Threads that spend known shares of their time in three functions: 50, 30 and 20 %, whatever the machine does.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile unsigned long sink;
static double seconds;

// It has no hooks, so that its time is its caller's own.
__attribute__((noinline, no_instrument_function)) static void turn(unsigned long times) {
    unsigned long value = times;
    for (unsigned long i = 0; i < times; i++) value = value * 6364136223846793005ul + 1442695040888963407ul;
    sink = value;
}

__attribute__((noinline)) static void half(void) { turn(500); }
__attribute__((noinline)) static void third(void) { turn(300); }
__attribute__((noinline)) static void fifth(void) { turn(200); }

__attribute__((noinline)) static void deep(int depth) {
    if (depth > 0) {
        deep(depth - 1);
        sink++;
    } else {
        half();
        third();
        fifth();
    }
}

__attribute__((no_instrument_function)) static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *work(void *depth) {
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 100; i++) deep((int)(long)depth);
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t thread;
    seconds = count > 1 ? atof(arguments[1]) : 1;
    pthread_create(&thread, NULL, work, (void *)40l);
    work((void *)0l);
    pthread_join(thread, NULL);
    return 0;
}
