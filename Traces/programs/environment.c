// Prints everything a program can see of its surroundings, so that a run under a tracer can be compared with a plain
// one: descriptors, signals, limits, threads, children, errno across calls, arguments and environment.

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "program.h"

extern char **environ;

APART static int leaf(int n) { return n + 1; }

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int count_entries(const char *path, int print) {
    DIR *directory = opendir(path);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == dirfd(directory)) continue;
        if (print) printf(" %s", entry->d_name);
        count++;
    }
    closedir(directory);
    return count;
}

static void print_signals(void) {
    sigset_t mask, pending;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    for (int i = 1; i < NSIG; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action)) continue;
        if (action.sa_handler != SIG_DFL || sigismember(&mask, i) || sigismember(&pending, i))
            printf("signal %d: handler %d blocked %d pending %d\n", i, action.sa_handler != SIG_DFL,
                   sigismember(&mask, i), sigismember(&pending, i));
    }
    stack_t stack;
    sigaltstack(NULL, &stack);
    printf("alternate stack %s\n", stack.ss_flags & SS_DISABLE ? "none" : "set");
}

static void print_limits(void) {
    for (int i = 0; i < RLIM_NLIMITS; i++) {
        struct rlimit limit;
        getrlimit((__rlimit_resource_t)i, &limit);
        printf("limit %d: %lu %lu\n", i, (unsigned long)limit.rlim_cur, (unsigned long)limit.rlim_max);
    }
}

static void print_process(void) {
    char name[17] = "", directory[4096];
    prctl(PR_GET_NAME, name);
    mode_t mask = umask(0);
    umask(mask);
    struct itimerval timer;
    getitimer(ITIMER_REAL, &timer);
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    printf("name %s, umask %o, directory %s, timer %d, cpus %d\n", name, mask, getcwd(directory, sizeof directory),
           timer.it_interval.tv_sec || timer.it_value.tv_sec, CPU_COUNT(&cpus));
    printf("dumpable %d, subreaper %d, no new privileges %d, priority %d\n", prctl(PR_GET_DUMPABLE),
           prctl(PR_GET_CHILD_SUBREAPER, name), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), getpriority(PRIO_PROCESS, 0));
    int status, child = waitpid(-1, &status, WNOHANG);
    printf("children: %s, threads %d\n", child < 0 && errno == ECHILD ? "none" : "some",
           count_entries("/proc/self/task", 0));
    printf("leader of its group %d, of its session %d\n", getpgrp() == getpid(), getsid(0) == getpid());
}

int main(int argc, char **argv) {
    errno = 0;
    int first = errno;
    for (int i = 0; i < 100000; i++) leaf(i);
    const char *error = dlerror();
    printf("dlerror at the start: %s\n", error ? error : "none");
    printf("errno at the start %d, after calls %d\n", first, errno);
    errno = EDOM;
    leaf(1);
    printf("errno kept %d\n", errno == EDOM);
    printf("descriptors:");
    count_entries("/proc/self/fd", 1);
    printf("\n");
    print_signals();
    print_limits();
    print_process();
    for (int i = 0; i < argc; i++) printf("argument %s\n", argv[i]);
    int count = 0;
    while (environ[count]) count++;
    qsort(environ, (size_t)count, sizeof *environ, compare);
    for (int i = 0; i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "FATHOM", 6) &&
            strncmp(environ[i], "COUNTS=", 7))
            printf("environment %s\n", environ[i]);
}
