// A little of everything that a recording may tell of: recursion, a thread, a lock, memory, arguments.
// Tools/keep-recordings keeps recordings of it.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;

__attribute__((noinline)) static long work(long n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

__attribute__((noinline)) static void add(long value) {
    char *block = malloc((size_t)(value + 1));
    pthread_mutex_lock(&guard);
    sum += value + (block != NULL);
    pthread_mutex_unlock(&guard);
    free(block);
}

static void *other(void *argument) {
    for (int i = 0; i < 3; i++) add(work(3));
    return argument;
}

__attribute__((noinline)) static void pause_a_little(void) {
    struct timespec time = {0, 40000000};
    nanosleep(&time, NULL);
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, other, NULL)) return 1;
    for (int i = 0; i < 4; i++) add(work(i + 2));
    pause_a_little();
    pthread_join(thread, NULL);
    printf("%ld\n", sum);
}
