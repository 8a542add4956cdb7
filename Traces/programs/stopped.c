// stopped N: stops the recorder, which is the parent process, has two threads make N calls meanwhile, and
// lets it go on.

#include <pthread.h>
#include <signal.h>

#include "program.h"

static long calls;

APART static int leaf(int i) { return i * 7 + 1; }

static void *run(void *unused) {
    int sum = 0;
    for (long i = 0; i < calls / 2; i++) sum += leaf((int)i);
    KEEP(sum);
    return unused;
}

int main(int count, char **arguments) {
    calls = count > 1 ? atol(arguments[1]) : 1000;
    pthread_t threads[2];
    kill(getppid(), SIGSTOP);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, run, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    kill(getppid(), SIGCONT);
}
