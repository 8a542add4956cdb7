// A thread waits for its child, which it has started by vfork and which stays until SIGTERM comes. Such a thread cannot
// be stopped.

#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long rounds;
static volatile int over;

__attribute__((noinline)) void leaf(void) { rounds++; }

__attribute__((no_instrument_function)) static void end(int signal) {
    (void)signal;
    over = 1;
}

__attribute__((no_instrument_function)) static void *start(void *unused) {
    pid_t child = vfork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) pause();
    }
    waitpid(child, NULL, 0);
    return unused;
}

int main(void) {
    pthread_t thread;
    signal(SIGTERM, end);
    pthread_create(&thread, NULL, start, NULL);
    while (!over) {
        leaf();
        usleep(1000);
    }
    _exit(0);
}
