// Answers requests on two threads. Of every hundred, one waits for a lock that another thread holds, and one misses the
// cache and parses a file. Notes for each request how long it took, waited and parsed. The argument is the number of
// requests a thread.

#include <fathom.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "program.h"

#define THREADS 2

struct request {
    long number;
    int waits, misses;
    uint64_t took, waited, parsed;  // ns
};

struct worker {
    pthread_t thread, holder;
    pthread_mutex_t lock;
    sem_t wanted, held;
    struct request *requests;
    long count;
    unsigned seed;
};

static char path[] = "/tmp/server.XXXXXX";
static char text[1 << 16];

QUIET static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

APART static void lock_wait(struct worker *worker, struct request *request) {
    uint64_t start = now();
    pthread_mutex_lock(&worker->lock);
    request->waited = now() - start;
    pthread_mutex_unlock(&worker->lock);
}

// Counts the lines of the file for 5 to 10 ms.
APART static long parse_file(struct worker *worker, struct request *request) {
    uint64_t start = now(), end = start + 5000000 + (uint64_t)rand_r(&worker->seed) % 5000000;
    long lines = 0;
    do {
        char buffer[4096];
        int file = open(path, O_RDONLY | O_CLOEXEC);
        for (ssize_t size; (size = read(file, buffer, sizeof buffer)) > 0;)
            for (ssize_t i = 0; i < size; i++) lines += buffer[i] == '\n';
        close(file);
    } while (now() < end);
    request->parsed = now() - start;
    return lines;
}

APART static long lookup(struct worker *worker, struct request *request) {
    return request->misses ? parse_file(worker, request) : request->number;
}

APART static long render(long value) {
    for (int i = 0; i < 5000; i++) {
        value = value * 31 + i;
        KEEP(value);
    }
    return value;
}

APART static void handle(struct worker *worker, struct request *request) {
    lock_wait(worker, request);
    long value = render(lookup(worker, request));
    KEEP(value);
}

// Holds the lock for 5 to 10 ms each time that somebody wants it held.
QUIET static void *hold(void *argument) {
    struct worker *worker = argument;
    unsigned seed = worker->seed + 100;
    for (;;) {
        while (sem_wait(&worker->wanted)) {
        }
        pthread_mutex_lock(&worker->lock);
        sem_post(&worker->held);
        usleep(5000 + (unsigned)rand_r(&seed) % 5000);
        pthread_mutex_unlock(&worker->lock);
    }
    return NULL;
}

QUIET static void *serve(void *argument) {
    struct worker *worker = argument;
    for (long i = 0; i < worker->count; i++) {
        struct request *request = &worker->requests[i];
        request->number = i;
        request->waits = i % 100 == 50;
        request->misses = i % 100 == 99;
        fathom_mark(request->waits ? "waits" : request->misses ? "misses" : "hits");
        if (request->waits) {
            sem_post(&worker->wanted);
            while (sem_wait(&worker->held)) {
            }
        }
        uint64_t start = now();
        handle(worker, request);
        request->took = now() - start;
    }
    return NULL;
}

int main(int argc, char **argv) {
    static struct worker workers[THREADS];
    memset(text, 'x', sizeof text);
    for (size_t i = 63; i < sizeof text; i += 64) text[i] = '\n';
    int file = mkstemp(path);
    if (file < 0 || write(file, text, sizeof text) != sizeof text) return 1;
    close(file);
    for (int i = 0; i < THREADS; i++) {
        struct worker *worker = &workers[i];
        worker->count = argc > 1 ? atol(argv[1]) : 1000;
        worker->requests = calloc((size_t)worker->count, sizeof *worker->requests);
        worker->seed = (unsigned)i + 1;
        pthread_mutex_init(&worker->lock, NULL);
        sem_init(&worker->wanted, 0, 0);
        sem_init(&worker->held, 0, 0);
        pthread_create(&worker->holder, NULL, hold, worker);
        pthread_create(&worker->thread, NULL, serve, worker);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    unlink(path);
    FILE *truth = truth_open();
    for (int i = 0; truth && i < THREADS; i++)
        for (long j = 0; j < workers[i].count; j++) {
            struct request *request = &workers[i].requests[j];
            fprintf(truth, "%lu %lu %lu\n", (unsigned long)request->took, (unsigned long)request->waited,
                    (unsigned long)request->parsed);
        }
    if (truth) fclose(truth);
}
