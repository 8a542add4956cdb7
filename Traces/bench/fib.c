// fib N THREADS: fib(N) on each thread.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int n;

static int fib(int i) { return i < 2 ? i : fib(i - 1) + fib(i - 2); }

static void *run(void *unused) { return (void *)(long)fib(n + (unused != NULL)); }

int main(int count, char **arguments) {
    n = atoi(arguments[1]);
    int threads = count > 2 ? atoi(arguments[2]) : 1;
    pthread_t started[64];
    void *result;
    for (int i = 1; i < threads; i++) pthread_create(&started[i], NULL, run, NULL);
    long sum = (long)run(NULL);
    for (int i = 1; i < threads; i++) pthread_join(started[i], &result), sum += (long)result;
    printf("%ld\n", sum);
    return 0;
}
