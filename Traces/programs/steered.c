// `steered FILE [THREADS]` handles items in some threads until FILE is there, for somebody who starts and stops the
// recording from outside meanwhile. Each item sets a counter to its number and makes three calls. What really happened
// is a line an item: its number, and when it began and ended, in ns of CLOCK_MONOTONIC.

#include <fathom.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "program.h"

#define ITEMS 1000000L
#define THREADS 8

struct item {
    long number, begin, end;
};
static struct item *items[THREADS];
static long counts[THREADS];
static atomic_int is_over;

QUIET static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

APART static void leaf(long n) { KEEP(n); }

APART static void inner(long n) {
    leaf(n);
    for (volatile int i = 0; i < 20000; i++) continue;
}

APART static void handle(long n) {
    fathom_set_counter("number", (double)n);
    leaf(n);
    inner(n);
}

QUIET static void *work(void *argument) {
    long thread = (long)argument;
    while (!is_over) {
        long i = counts[thread];
        if (i == ITEMS) {
            usleep(1000);
            continue;
        }
        struct item *item = &items[thread][i];
        item->number = i * THREADS + thread;
        item->begin = now();
        handle(item->number);
        item->end = now();
        counts[thread]++;
    }
    return NULL;
}

int main(int count, char **words) {
    pthread_t threads[THREADS];
    long wanted = count > 2 ? atol(words[2]) : 3;
    for (long i = 0; i < wanted; i++) {
        items[i] = calloc(ITEMS, sizeof *items[i]);
        pthread_create(&threads[i], NULL, work, (void *)i);
    }
    while (access(words[1], F_OK) != 0) usleep(1000);
    is_over = 1;
    FILE *truth = truth_open();
    for (long i = 0; i < wanted; i++) {
        pthread_join(threads[i], NULL);
        for (long k = 0; truth && k < counts[i]; k++)
            fprintf(truth, "%ld %ld %ld\n", items[i][k].number, items[i][k].begin, items[i][k].end);
    }
    if (truth) fclose(truth);
    return 0;
}
