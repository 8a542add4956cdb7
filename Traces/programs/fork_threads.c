// Forks while other threads are inside traced functions; the children go on without them, and some fork again.

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "program.h"

#define WORKERS 3
#define CHILDREN 40

static atomic_int stop, started;

APART static int leaf(int n) { return n + 1; }

// Spins, so its calls are no fixed number; `leaf` and `in_child` are called by the children alone.
APART static void spin(void) {
    for (int i = 0; i < 100; i++) KEEP(i);
}

static void *worker(void *argument) {
    started++;
    while (!stop) spin();
    return argument;
}

APART static int in_child(int n) {
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += leaf(n);
    if (n % 10 == 0) {
        pid_t child = fork();
        if (child == 0) _exit(leaf(sum) & 1);
        waitpid(child, NULL, 0);
    }
    return sum & 127;
}

int main(void) {
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, worker, NULL);
    while (started < WORKERS) usleep(100);
    int sum = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) _exit(in_child(i));
        int status;
        waitpid(child, &status, 0);
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    }
    stop = 1;
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    printf("%d children, sum %d\n", CHILDREN, sum);
}
