// Has more keys of thread-specific data than a thread has room for from the beginning. When the file GO is there, it
// makes threads, one after the other, whose first traced call comes from a signal handler that interrupts the
// allocator:
//   keys GO THREADS
// Tells the truth when all have ended.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>

#include "program.h"

#define KEYS 40

static volatile int is_working, is_handled;
static volatile long count;

APART static void leaf(void) { count++; }

APART static void handler(int number) {
    (void)number;
    leaf();
    is_handled = 1;
}

QUIET static void *work(void *unused) {
    void *volatile blocks[64];
    is_working = 1;
    while (!is_handled) {
        for (int i = 0; i < 64; i++) blocks[i] = malloc(3000 + (size_t)i * 40);
        for (int i = 0; i < 64; i++) free(blocks[i]);
    }
    return unused;
}

QUIET int main(int argc, char **argv) {
    if (argc < 3) return 64;
    pthread_key_t keys[KEYS];
    for (int i = 0; i < KEYS; i++) pthread_key_create(&keys[i], NULL);
    signal(SIGUSR1, handler);
    while (access(argv[1], F_OK)) usleep(1000);
    int threads = atoi(argv[2]);
    for (int i = 0; i < threads; i++) {
        pthread_t thread;
        is_working = is_handled = 0;
        pthread_create(&thread, NULL, work, NULL);
        while (!is_working) usleep(10);
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
    }
    FILE *truth = truth_open();
    if (truth) {
        fprintf(truth, "threads %d\n", threads);
        fclose(truth);
    }
    while (!access(argv[1], F_OK)) usleep(1000);
}
