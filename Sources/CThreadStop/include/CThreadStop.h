// Stops a thread of another process for a moment and reads its registers, in C because Swift cannot call ptrace, which
// is variadic.
//
// PTRACE_SEIZE attaches to the thread, so the thread runs on if the process that attached is killed, at whatever
// moment.

#ifndef CTHREADSTOP_H
#define CTHREADSTOP_H

#include "CRemoteCall.h"
#include "CStartRun.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define FATHOM_REGISTERS 32  // the most that a machine has

// Whether this process may trace the ones that it starts: a policy may forbid that to all (ptrace(2)).
static inline int fathom_may_trace(void) {
    pid_t child = fork();
    if (child == 0) {
        for (;;) pause();
    }
    if (child < 0) return 0;
    int may = ptrace(PTRACE_SEIZE, child, 0, 0) == 0, status;
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return may;
}

// Whether a process is a child of this one.
static inline int fathom_is_child(pid_t process) {
    char state;
    pid_t parent;
    return fathom_state_of(process, &state, &parent) && parent == getpid();
}

// Waits, without delay, for what has become of a thread. Returns waitpid's answer. That a child of this process has
// ended is left for who waits for it to be told, and -1 returned; so it is for the first of its threads, which stands
// for all.
static inline pid_t fathom_stop_wait(pid_t thread, int *status) {
    siginfo_t info;
    info.si_pid = 0;
    if (waitid(P_PID, (id_t)thread, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL)) return -1;
    if (info.si_pid == 0) return 0;
    int ended = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
    if (ended && !syscall(SYS_tgkill, thread, thread, 0) && fathom_is_child(thread)) return -1;
    return waitpid(thread, status, WNOHANG | __WALL);
}

// Attaches to a thread and asks it to stop. Returns 0, or -1 and errno.
static inline int fathom_stop_begin(pid_t thread) {
    if (ptrace(PTRACE_SEIZE, thread, 0, 0)) return -1;
    if (!ptrace(PTRACE_INTERRUPT, thread, 0, 0)) return 0;
    int status, error = errno;
    fathom_stop_wait(thread, &status);  // it has just ended
    errno = error;
    return -1;
}

// Finds out whether the thread has stopped. Returns 1 when it has, 0 when it has not yet, -1 when it has ended. Sets
// `signal` to the signal that the thread was about to get when it stopped, or 0; hand this to fathom_stop_end.
static inline int fathom_stop_look(pid_t thread, int *signal) {
    int status = 0;
    pid_t found = fathom_stop_wait(thread, &status);
    *signal = 0;
    if (found == 0) return 0;
    if (found < 0 || !WIFSTOPPED(status)) return -1;
    if (status >> 16 == 0) *signal = WSTOPSIG(status);
    return 1;
}

// Lets the thread go on, and gives it the signal unless that is 0.
static inline void fathom_stop_end(pid_t thread, int signal) {
    ptrace(PTRACE_DETACH, thread, 0, (void *)(intptr_t)signal);
}

// Reads the general registers of a thread that has stopped, in DWARF's order, and its program counter. Returns the
// number of registers, or -1 and errno.
static inline int fathom_stop_registers(pid_t thread, uint64_t registers[FATHOM_REGISTERS], uint64_t *counter) {
#if defined(__x86_64__)
    struct user_regs_struct found;
    struct iovec place = {&found, sizeof found};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &place)) return -1;
    uint64_t values[] = {found.rax, found.rdx, found.rcx, found.rbx, found.rsi, found.rdi, found.rbp, found.rsp,
                         found.r8,  found.r9,  found.r10, found.r11, found.r12, found.r13, found.r14, found.r15};
    for (int i = 0; i < 16; i++) registers[i] = values[i];
    *counter = found.rip;
    return 16;
#elif defined(__aarch64__)
    struct user_regs_struct found;
    struct iovec place = {&found, sizeof found};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &place)) return -1;
    for (int i = 0; i < 31; i++) registers[i] = found.regs[i];
    registers[31] = found.sp;
    *counter = found.pc;
    return 32;
#else
    (void)thread, (void)registers, (void)counter;
    return -1;
#endif
}

// Makes a thread that has stopped go on elsewhere. Returns 0, or -1 and errno.
static inline int fathom_stop_move(pid_t thread, uint64_t counter) {
    struct user_regs_struct registers;
    struct iovec place = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &place)) return -1;
#if defined(__x86_64__)
    registers.rip = counter;
#elif defined(__aarch64__)
    registers.pc = counter;
#endif
    return (int)ptrace(PTRACE_SETREGSET, thread, (void *)NT_PRSTATUS, &place);
}

#endif
