// `rates CALLS` makes so many calls in each of four threads, of which each works ten times as long between two calls as
// the one before. All go on until the first one is through; then the program asks for a save.

#include <pthread.h>
#include <stdatomic.h>

#include "program.h"
#include <fathom.h>

static atomic_int is_over;
static long calls;

APART static void step(long n) { KEEP(n); }

APART static void turn(long n, long work) {
    for (volatile long i = 0; i < work; i++) continue;
    step(n);
}

static void *go(void *argument) {
    long rank = (long)argument, work = 1;
    for (long i = 0; i < rank; i++) work *= 10;
    for (long n = 0; rank > 0 ? !is_over : n < calls; n++) turn(n, work);
    if (rank == 0) is_over = 1;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t threads[4];
    calls = argc > 1 ? atol(argv[1]) : 100000;
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, go, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    fathom_save();
    return 0;
}
