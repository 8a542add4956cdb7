// A thread calls the program's first traced function while the main thread forks: the child finds the recording half
// begun by a thread it does not have. Runs itself many times; prints how many children ended well.

#include <pthread.h>
#include <sys/wait.h>

#include "program.h"

#define ROUNDS 300

APART static int leaf(int n) { return n + 1; }

QUIET static void *worker(void *argument) {
    KEEP(leaf(1));
    return argument;
}

QUIET static int once(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pid_t child = fork();
    if (child == 0) _exit(leaf(6));
    int status;
    waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    return WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

QUIET int main(int argc, char **argv) {
    if (argc > 1) return once() ? 0 : 1;
    int good = 0;
    for (int i = 0; i < ROUNDS; i++) {
        pid_t child = fork();
        if (child == 0) {
            execl("/proc/self/exe", argv[0], "once", (char *)NULL);
            _exit(2);
        }
        int status;
        waitpid(child, &status, 0);
        good += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    printf("%d of %d\n", good, ROUNDS);
}
