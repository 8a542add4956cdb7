// Programs that take all descriptors for their own, or give up what they could open files by; the argument says how:
//   closefrom close_range closeall dup2 nofile chdir chroot rights

#define _GNU_SOURCE
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "program.h"

APART static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }

APART static void take(const char *how) {
    if (!strcmp(how, "closefrom")) closefrom(3);
    if (!strcmp(how, "close_range")) close_range(3, ~0u, 0);
    if (!strcmp(how, "closeall"))
        for (int i = 3; i < 1024; i++) close(i);
    if (!strcmp(how, "dup2")) {
        int null = open("/dev/null", O_RDWR);
        for (int i = 3; i < 256; i++) dup2(null, i);
        for (int i = 900; i < 1024; i++) dup2(null, i);
    }
    if (!strcmp(how, "nofile")) {
        struct rlimit limit = {3, 3};
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (!strcmp(how, "chdir") && chdir("/")) perror("chdir");
    if (!strcmp(how, "rights") && getuid() == 0 && (setgid(65534) || setuid(65534))) perror("setuid");
    if (!strcmp(how, "chroot") && (chroot("/proc") || chdir("/"))) perror("chroot");
}

static int child(void) { return work(12) & 127; }

int main(int argc, char **argv) {
    int sum = work(15);
    take(argc > 1 ? argv[1] : "closefrom");
    sum += work(20);
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) _exit(child());
        int status;
        waitpid(pid, &status, 0);
        sum += WIFEXITED(status) ? WEXITSTATUS(status) : 10000;
    }
    printf("sum %d, next descriptor %d\n", sum, dup(0));
}
