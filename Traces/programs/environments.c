// Starts itself in every way there is, with an environment that it has made: nothing of its own is passed on but WORD.
// Each program that is started prints what it got. With a library's path as argument, that is in LD_PRELOAD.

#define _GNU_SOURCE
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "program.h"

extern char **environ;
static char self[4096];

APART static void leaf(const char *way) {
    printf("%s: WORD is %s\n", way, getenv("WORD") ? getenv("WORD") : "missing");
    fflush(stdout);
}

QUIET static void finish(pid_t child) {
    int status;
    if (waitpid(child, &status, 0) < 0 || status) printf("status %x\n", status);
    fflush(stdout);
}

QUIET static void run(const char *way, char **variables) {
    char *arguments[] = {self, (char *)way, NULL};
    if (!strcmp(way, "execve")) execve(self, arguments, variables);
    if (!strcmp(way, "execvpe")) execvpe(self, arguments, variables);
    if (!strcmp(way, "fexecve")) fexecve(open(self, O_RDONLY), arguments, variables);
    if (!strcmp(way, "execveat")) execveat(AT_FDCWD, self, arguments, variables, 0);
    if (!strcmp(way, "execle")) execle(self, self, way, (char *)NULL, variables);
    clearenv();
    for (; *variables; variables++) putenv(*variables);
    if (!strcmp(way, "execv")) execv(self, arguments);
    if (!strcmp(way, "execvp")) execvp(self, arguments);
    if (!strcmp(way, "execl")) execl(self, self, way, (char *)NULL);
    if (!strcmp(way, "execlp")) execlp(self, self, way, (char *)NULL);
    char command[8192];
    snprintf(command, sizeof command, "'%s' %s; exit 0", self, way);
    if (!strcmp(way, "system")) _exit(system(command));
    if (!strcmp(way, "popen")) {
        FILE *output = popen(command, "r");
        for (int c; (c = getc(output)) >= 0;) putchar(c);
        fflush(stdout);
        _exit(pclose(output));
    }
    _exit(1);
}

int main(int argc, char **argv) {
    if (argc > 1 && argv[1][0] != '/') {
        leaf(argv[1]);
        return 0;
    }
    self[readlink("/proc/self/exe", self, sizeof self - 1)] = 0;
    char preload[8192];
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argc > 1 ? argv[1] : "");
    char *variables[] = {"WORD=word", argc > 1 ? preload : NULL, NULL};
    const char *ways[] = {"execve", "execvpe", "fexecve", "execveat", "execle", "execv",
                          "execvp", "execl",   "execlp",  "system",   "popen"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        pid_t child = fork();
        if (child == 0) run(ways[i], variables);
        finish(child);
    }
    pid_t child = vfork();
    char *by_vfork[] = {self, "vfork", NULL};
    if (child == 0) {
        execve(self, by_vfork, variables);
        _exit(1);
    }
    finish(child);
    char *by_spawn[] = {self, "posix_spawn", NULL}, *by_spawnp[] = {self, "posix_spawnp", NULL};
    if (posix_spawn(&child, self, NULL, NULL, by_spawn, variables) == 0) finish(child);
    if (posix_spawnp(&child, self, NULL, NULL, by_spawnp, variables) == 0) finish(child);
}
