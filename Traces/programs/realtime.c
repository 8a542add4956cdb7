// Two real-time threads on one CPU, of which the urgent one steers the recording in the midst of the other's doing so.

#define _GNU_SOURCE
#include <fathom.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "program.h"

static volatile int is_over;

APART static void *urgent(void *argument) {
    for (int i = 0; i < 2000; i++) {
        nanosleep(&(struct timespec){0, 20000 + i % 100}, NULL);
        fathom_start();
    }
    is_over = 1;
    return argument;
}

int main(void) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    struct sched_param low = {1}, high = {2};
    if (sched_setaffinity(0, sizeof one, &one) || sched_setscheduler(0, SCHED_FIFO, &low)) return 77;
    alarm(20);  // rather than to spin for ever
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &high);
    if (pthread_create(&thread, &attributes, urgent, NULL)) return 77;
    while (!is_over) {
        fathom_stop();
        fathom_start();
    }
    pthread_join(thread, NULL);
    puts("over");
}
