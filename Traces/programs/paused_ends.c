// Threads begin and end while recording is stopped, and one that was recorded before ends after it goes on.

#include <fathom.h>
#include <pthread.h>

#include "program.h"

static pthread_barrier_t barrier;

APART int work(int n) { return n + 1; }

APART static void *run(void *lasts) {
    work(1);
    if (lasts) pthread_barrier_wait(&barrier);
    if (lasts) pthread_barrier_wait(&barrier);
    return lasts;
}

QUIET static pthread_t begin(void *lasts) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, lasts)) abort();
    return thread;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_t lasting = begin(&barrier);
    pthread_barrier_wait(&barrier);
    fathom_stop();
    for (int round = 0; round < 4; round++) pthread_join(begin(NULL), NULL);
    fathom_start();
    pthread_barrier_wait(&barrier);
    pthread_join(lasting, NULL);
    work(2);
    return 0;
}
