// Starts itself again in every way: posix_spawn, vfork (the child calls a traced function before exec), fork and exec,
// and a chain of images in one process, each of which execs the next.

#define _GNU_SOURCE
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "program.h"

extern char **environ;
static char *self;

APART static int prepare(int n) { return n * 2; }

APART static int chain(int length) {
    char text[16];
    prepare(length);
    if (length == 0) return 7;
    snprintf(text, sizeof text, "%d", length - 1);
    execl(self, self, "chain", text, (char *)NULL);
    return 1;
}

QUIET static int finish(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

APART static int by_spawn(char **arguments) {
    pid_t child;
    if (posix_spawn(&child, self, NULL, NULL, arguments, environ)) return -1;
    return finish(child);
}

APART static int by_vfork(char **arguments) {
    pid_t child = vfork();
    if (child == 0) {
        prepare(1);
        execv(self, arguments);
        _exit(127);
    }
    return finish(child);
}

// A child whose exec fails, as a shell's search along PATH does.
APART static int by_failing_vfork(char **arguments) {
    pid_t child = vfork();
    if (child == 0) {
        execv("/nonexistent", arguments);
        prepare(2);
        _exit(9);
    }
    return finish(child);
}

APART static int by_fork(char **arguments) {
    pid_t child = fork();
    if (child == 0) {
        prepare(3);
        execv(self, arguments);
        _exit(127);
    }
    return finish(child);
}

int main(int argc, char **argv) {
    self = argv[0];
    if (argc > 2 && !strcmp(argv[1], "chain")) return chain(atoi(argv[2]));
    if (argc > 1 && !strcmp(argv[1], "leaf")) return prepare(21);
    int rounds = argc > 1 ? atoi(argv[1]) : 20, sum = 0;
    char *leaf[] = {self, "leaf", NULL};
    char *images[] = {self, "chain", "5", NULL};
    for (int i = 0; i < rounds; i++)
        sum += by_spawn(leaf) + by_vfork(leaf) + by_failing_vfork(leaf) + by_fork(leaf) + by_spawn(images);
    printf("%d rounds, sum %d\n", rounds, sum);
}
