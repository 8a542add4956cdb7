// 600 children, one after another, that work a little and _exit, as a shell's subshells do.

#include <sys/wait.h>

#include "program.h"

APART static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

APART static int subshell(int n) { return work(5) + n; }

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 600, sum = 0;
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) _exit(subshell(i) & 127);
        int status;
        waitpid(child, &status, 0);
        sum += WEXITSTATUS(status);
    }
    printf("%d children, sum %d\n", count, sum);
}
