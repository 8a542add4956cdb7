// Threads that end in every way: return, pthread_exit in the depths, deferred and asynchronous cancellation, exit of
// the main thread before the others; with names, and with TLS destructors that call traced functions and re-arm.

#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/prctl.h>

#include "program.h"

static pthread_key_t keys[8];
static atomic_int destroyed, cleaned;
static sem_t running;

APART static void leaf(void) { KEEP(destroyed); }

APART static void end(void) { pthread_exit((void *)5); }

APART static void deep_exit(int level) {
    leaf();
    if (level) deep_exit(level - 1);
    else end();
    leaf();
}

// Runs after the thread's function, up to PTHREAD_DESTRUCTOR_ITERATIONS times a key.
static void destroy(void *value) {
    destroyed++;
    leaf();
    long left = (long)value - 1;
    if (left > 0) pthread_setspecific(keys[left % 8], (void *)left);
}

static void clean(void *value) {
    KEEP(value);
    cleaned++;
    leaf();
}

static void *returns(void *argument) {
    prctl(PR_SET_NAME, "returns", 0, 0, 0);
    pthread_setspecific(keys[3], (void *)3);
    leaf();
    return argument;
}

static void *exits(void *argument) {
    pthread_setname_np(pthread_self(), "exits");
    pthread_setspecific(keys[2], (void *)2);
    deep_exit(20);
    return argument;
}

APART static void wait_forever(void) {
    sem_post(&running);
    for (;;) pause();
}

APART static void wait_deep(int level) {
    leaf();
    if (level) wait_deep(level - 1);
    else wait_forever();
}

static void *deferred(void *argument) {
    pthread_setname_np(pthread_self(), "deferred");
    pthread_setspecific(keys[1], (void *)1);
    pthread_cleanup_push(clean, NULL);
    wait_deep(10);
    pthread_cleanup_pop(0);
    return argument;
}

APART static void spin_forever(void) {
    sem_post(&running);
    for (int i = 0;; i++) KEEP(i);
}

APART static void spin_deep(int level) {
    if (level) spin_deep(level - 1);
    else spin_forever();
}

static void *asynchronous(void *argument) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_setname_np(pthread_self(), "asynchronous");
    spin_deep(10);
    return argument;
}

static void *last(void *argument) {
    pthread_join((pthread_t)argument, NULL);
    leaf();
    printf("destroyed %d cleaned %d\n", destroyed, cleaned);
    exit(6);
}

int main(void) {
    sem_init(&running, 0, 0);
    for (int i = 0; i < 8; i++) pthread_key_create(&keys[i], destroy);
    for (int i = 0; i < 50; i++) {
        void *(*bodies[])(void *) = {returns, exits, deferred, asynchronous};
        pthread_t thread;
        void *value;
        pthread_create(&thread, NULL, bodies[i % 4], NULL);
        if (i % 4 >= 2) {
            sem_wait(&running);
            pthread_cancel(thread);
        }
        pthread_join(thread, &value);
        leaf();
    }
    pthread_t thread;
    pthread_create(&thread, NULL, last, (void *)pthread_self());
    pthread_exit(NULL);
}
