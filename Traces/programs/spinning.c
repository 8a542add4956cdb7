// Four threads spin on two CPUs at most, and each prints for how long it wanted a CPU and had none, in ns, as the
// kernel counts it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4 };
static long spintime;
static pthread_barrier_t together;

// It is called so often that its hooks would be most of what is recorded, and time in which a thread waits for the
// recorder is no call's.
__attribute__((no_instrument_function)) static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

// The second number of the file: what the thread waited for a CPU, in ns.
static long delay(void) {
    char text[128] = "";
    int file = open("/proc/thread-self/schedstat", O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0) exit(1);
    close(file);
    char *rest;
    strtol(text, &rest, 10);
    return strtol(rest, NULL, 10);
}

static long spin(void) {
    long before = delay(), end = now() + spintime * 1000000;
    while (now() < end) continue;
    return delay() - before;
}

static void *worker(void *argument) {
    pthread_barrier_wait(&together);
    *(long *)argument = spin();
    return NULL;
}

static void use_two(void) {
    cpu_set_t set, two;
    CPU_ZERO(&two);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; i++)
        if (CPU_ISSET(i, &set)) CPU_SET(i, &two);
    sched_setaffinity(0, sizeof two, &two);
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    long delays[THREADS], sum = 0;
    spintime = count > 1 ? atol(arguments[1]) : 400;
    use_two();
    pthread_barrier_init(&together, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, worker, &delays[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++) sum += delays[i];
    printf("runnable %ld\n", sum);
    return 0;
}
