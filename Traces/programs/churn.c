// Short-lived threads: 10,000 of them (or as many as the argument says), eight at a time, a few calls each.

#include <pthread.h>

#include "program.h"

#define AT_ONCE 8

APART static long leaf(long n) { return n * 3; }

APART static long work(long n) { return leaf(n) + leaf(n + 1); }

static void *body(void *argument) { return (void *)work((long)argument); }

int main(int argc, char **argv) {
    long count = argc > 1 ? atol(argv[1]) : 10000, sum = 0;
    for (long i = 0; i < count; i += AT_ONCE) {
        pthread_t threads[AT_ONCE];
        for (long j = 0; j < AT_ONCE; j++) pthread_create(&threads[j], NULL, body, (void *)(i + j));
        for (long j = 0; j < AT_ONCE; j++) {
            void *value;
            pthread_join(threads[j], &value);
            sum += (long)value;
        }
    }
    printf("%ld threads, sum %ld\n", count, sum);
}
