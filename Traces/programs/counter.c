// Four threads count at once: calls at full speed on every core.

#include <pthread.h>

#include "program.h"

#define THREADS 4

APART static long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static void *body(void *argument) { return (void *)fib((long)argument); }

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 20, sum = 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, body, (void *)n);
    for (int i = 0; i < THREADS; i++) {
        void *value;
        pthread_join(threads[i], &value);
        sum += (long)value;
    }
    printf("sum %ld\n", sum);
}
