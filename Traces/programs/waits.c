// The main thread waits for what another one does, in several ways. It prints how long it waited each time, in ns.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sem_t ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_changed, ends[2];
static long naptime;

static long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000 + time.tv_nsec;
}

static void nap(void) {
    struct timespec time = {naptime / 1000, naptime % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void finish(void) { sem_post(&ready); }
static void handle(void) {
    nap();
    finish();
}
static void release(void) { pthread_mutex_unlock(&lock); }
static void change(void) {
    pthread_mutex_lock(&gate);
    is_changed = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&gate);
}
static void answer(void) {
    if (write(ends[1], "x", 1) != 1) abort();
}

static void *worker(void *argument) {
    pthread_mutex_lock(&lock);
    handle();
    nap();
    release();
    nap();
    change();
    nap();
    answer();
    nap();
    return argument;
}

static void wait_for_semaphore(void) {
    while (sem_wait(&ready) && errno == EINTR) continue;
}
static void wait_for_lock(void) {
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
}
static void wait_for_change(void) {
    pthread_mutex_lock(&gate);
    while (!is_changed) pthread_cond_wait(&changed, &gate);
    pthread_mutex_unlock(&gate);
}
static void wait_for_answer(void) {
    char byte;
    if (read(ends[0], &byte, 1) != 1) abort();
}

static void tell(const char *name, void (*wait)(void)) {
    long before = now();
    wait();
    printf("%s %ld\n", name, now() - before);
}

// Cancelled while it waits: the wait leaves nothing behind.
static void *cancelled(void *argument) {
    static sem_t never;
    sem_wait(&never);
    return argument;
}

static void *join_cancelled(pthread_t thread) {
    void *result;
    pthread_join(thread, &result);
    return result;
}

int main(int count, char **arguments) {
    pthread_t thread;
    naptime = count > 1 ? atol(arguments[1]) : 100;
    if (pipe(ends)) return 1;
    pthread_create(&thread, NULL, worker, NULL);
    tell("semaphore", wait_for_semaphore);
    tell("lock", wait_for_lock);
    tell("condition", wait_for_change);
    tell("descriptor", wait_for_answer);
    long before = now();
    pthread_join(thread, NULL);
    printf("thread %ld\n", now() - before);
    pthread_create(&thread, NULL, cancelled, NULL);
    nap();
    pthread_cancel(thread);
    puts(join_cancelled(thread) == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
    errno = 0;
    struct timespec past = {0, 0};
    int failed = sem_timedwait(&ready, &past);
    puts(failed == -1 && errno == ETIMEDOUT ? "timed out" : strerror(errno));
    puts(pthread_mutex_trylock(&gate) == 0 && pthread_mutex_trylock(&gate) == EBUSY ? "busy" : "not busy");
    return 0;
}
