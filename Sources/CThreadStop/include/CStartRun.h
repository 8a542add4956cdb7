// Runs a program up to the moment at which it ends with all its memory still there, in C because Swift can neither fork
// nor call ptrace.

#ifndef CSTARTRUN_H
#define CSTARTRUN_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

// Starts a program without input and output, and stops it at its first instruction. Returns its id, or -1 and errno
// when it cannot be started. The kernel kills the program when the thread that called this ends.
static inline pid_t fathom_start_measured(const char *path, char *const arguments[], char *const environment[]) {
    pid_t process = fork();
    if (process == 0) {
        int nothing = open("/dev/null", O_RDWR);
        for (int stream = 0; stream < 3; stream++) dup2(nothing, stream);
        if (nothing > 2) close(nothing);
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execve(path, arguments, environment);
        _exit(errno == ENOENT ? 127 : 126);
    }
    int status = 0;
    if (process < 0 || waitpid(process, &status, 0) < 0) return -1;
    if (!WIFSTOPPED(status)) {
        errno = ENOEXEC;
        return -1;
    }
    if (ptrace(PTRACE_SETOPTIONS, process, 0, (void *)(PTRACE_O_TRACEEXIT | PTRACE_O_EXITKILL)) == 0) return process;
    int error = errno;
    kill(process, SIGKILL);
    waitpid(process, &status, 0);
    errno = error;
    return -1;
}

// Lets the program run. Returns 1 when it is about to end, and its memory can still be looked at; 0 when it has ended.
static inline int fathom_run_to_end(pid_t process) {
    long passed = 0;
    for (;;) {
        int status = 0;
        if (ptrace(PTRACE_CONT, process, 0, (void *)passed) || waitpid(process, &status, 0) < 0) return 0;
        if (!WIFSTOPPED(status)) return 0;
        if (status >> 16 == PTRACE_EVENT_EXIT) return 1;
        passed = status >> 16 ? 0 : WSTOPSIG(status);
    }
}

// Lets the program end, and returns its status.
static inline int fathom_let_end(pid_t process) {
    int status = 0;
    ptrace(PTRACE_CONT, process, 0, 0);
    while (waitpid(process, &status, 0) >= 0 && WIFSTOPPED(status)) ptrace(PTRACE_CONT, process, 0, 0);
    return status;
}

#endif
