// A small tree of calls, to select from: main { a { b { W { x { y { z } } } c W } } d }. With an argument, it calls all
// of that in a fork's child, in a second thread, and in itself once more by exec.
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

APART static int z(int n) { return n + 1; }
APART static int y(int n) { return z(n) + 1; }
APART static int x(int n) { return y(n) + 1; }
APART static int W(int n) { return x(n) + 1; }
APART static int c(int n) { return n + 1; }
APART static int b(int n) { return W(n) + c(n) + W(n + 1); }
APART static int a(int n) { return b(n) + 1; }
APART static int d(int n) { return n + 1; }

APART static void *in_thread(void *sum) {
    *(int *)sum += a(2);
    return sum;
}

int main(int argc, char **argv) {
    int sum = a(1) + d(1);
    if (argc > 1) {
        pid_t child = fork();
        if (child == 0) _exit(a(3) & 1);
        waitpid(child, NULL, 0);
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_thread, &sum)) return 1;
        pthread_join(thread, NULL);
        fflush(stdout);
        execl(argv[0], argv[0], (char *)NULL);
    }
    printf("%d\n", sum);
    return 0;
}
