// Lets a stopped thread of another process call a function, in C because Swift cannot call ptrace, which is variadic.
//
// What the thread had in its registers, those of vectors included, and which signals it blocked are kept, and given
// back afterwards. The call runs on a stack of its own, so that neither the red zone nor a stack that is nearly full
// matters.

#ifndef CREMOTECALL_H
#define CREMOTECALL_H

#include <asm/unistd.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

// glibc 2.31 does not have them.
#ifndef PTRACE_GETSIGMASK
#define PTRACE_GETSIGMASK 0x420a
#define PTRACE_SETSIGMASK 0x420b
#endif
#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

#define FATHOM_VECTORS_LIMIT 65536u  // more than the state of all vector registers takes

struct fathom_kept {
    uint64_t signals;  // that were blocked
    size_t vectors_size;
    char *vectors;
#if defined(__x86_64__)
    struct user_regs_struct registers;
#endif
};

#define FATHOM_CALL_DONE 0
#define FATHOM_CALL_LATE 1    // it has not returned yet
#define FATHOM_CALL_ENDED 2   // the thread, or its process, has ended
#define FATHOM_CALL_FAILED 3  // it could not be made, see errno

// What a thread was about when it was stopped.
struct fathom_stopped {
    uint64_t program_counter, stack_pointer;
    uint64_t thread_pointer;
    int64_t system_call;  // that it was in; -1: none
    int64_t result;       // of that
};

#if defined(__x86_64__)

static inline int fathom_registers_get(pid_t thread, struct user_regs_struct *registers) {
    struct iovec place = {registers, sizeof *registers};
    return (int)ptrace(PTRACE_GETREGSET, thread, (void *)(uintptr_t)1, &place);
}

static inline int fathom_registers_set(pid_t thread, const struct user_regs_struct *registers) {
    struct iovec place = {(void *)(uintptr_t)registers, sizeof *registers};
    return (int)ptrace(PTRACE_SETREGSET, thread, (void *)(uintptr_t)1, &place);
}

// 0, or -1 and errno. A thread of a 32-bit program has other registers: then errno is EPROTO.
static inline int fathom_stopped_look(pid_t thread, struct fathom_stopped *found) {
    struct user_regs_struct registers;
    if (fathom_registers_get(thread, &registers)) return -1;
    if (registers.cs != 0x33) {
        errno = EPROTO;
        return -1;
    }
    found->program_counter = registers.rip;
    found->stack_pointer = registers.rsp;
    found->thread_pointer = registers.fs_base;
    found->system_call = (int64_t)registers.orig_rax;
    found->result = (int64_t)registers.rax;
    return 0;
}

// Lets a system call that the stop has ended early, with EINTR, begin again. The kernel does so by itself after others.
static inline int fathom_stopped_begin_again(pid_t thread) {
    struct user_regs_struct registers;
    if (fathom_registers_get(thread, &registers)) return -1;
    registers.rax = registers.orig_rax;
    registers.orig_rax = (unsigned long long)-1;
    registers.rip -= 2;
    return fathom_registers_set(thread, &registers);
}

// Keeps what the thread has, and blocks all its signals. 0, or -1 and errno.
static inline int fathom_keep(pid_t thread, struct fathom_kept *kept) {
    kept->vectors = (char *)malloc(FATHOM_VECTORS_LIMIT);
    if (!kept->vectors) return -1;
    struct iovec place = {kept->vectors, FATHOM_VECTORS_LIMIT};
    // Not those of faults and traps: a fault whose signal is blocked would take the program's handler away.
    uint64_t faults = 0, all;
    for (const int *signal = (const int[]){SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, 0}; *signal; signal++)
        faults |= 1ull << (*signal - 1);
    all = ~faults;
    if (!fathom_registers_get(thread, &kept->registers) &&
        !ptrace(PTRACE_GETREGSET, thread, (void *)(uintptr_t)NT_X86_XSTATE, &place) &&
        !ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, thread, (void *)sizeof kept->signals, &kept->signals) &&
        !ptrace((enum __ptrace_request)PTRACE_SETSIGMASK, thread, (void *)sizeof all, &all)) {
        kept->vectors_size = place.iov_len;
        return 0;
    }
    int reason = errno;
    free(kept->vectors);
    kept->vectors = NULL;
    errno = reason;
    return -1;
}

// Gives it all back. 0, or -1 and errno: then the thread has ended.
static inline int fathom_give_back(pid_t thread, struct fathom_kept *kept) {
    struct iovec place = {kept->vectors, kept->vectors_size};
    int failed = ptrace(PTRACE_SETREGSET, thread, (void *)(uintptr_t)NT_X86_XSTATE, &place) ||
                 fathom_registers_set(thread, &kept->registers) ||
                 ptrace((enum __ptrace_request)PTRACE_SETSIGMASK, thread, (void *)sizeof kept->signals, &kept->signals);
    free(kept->vectors);
    kept->vectors = NULL;
    return failed ? -1 : 0;
}

// Makes the thread go on at `address`. A call of a function returns to the word on top of the stack.
static inline int fathom_call_begin(pid_t thread, const struct fathom_kept *kept, uint64_t address, uint64_t stack,
                                    const uint64_t arguments[6], uint64_t number) {
    struct user_regs_struct registers = kept->registers;
    registers.rip = address;
    if (stack) registers.rsp = stack;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.rcx = arguments[3];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    registers.rax = number;
    registers.rbp = 0;
    registers.eflags &= ~0x500ull;  // neither the direction nor the trap flag is set when a function is called
    registers.orig_rax = (unsigned long long)-1;  // no system call is to begin again
    return fathom_registers_set(thread, &registers);
}

// Waits until the thread has stopped at `expected`, having gone on by `request`. FATHOM_CALL_*.
static inline int fathom_call_wait(pid_t thread, int request, uint64_t expected, unsigned patience_ms,
                                   uint64_t *result) {
    unsigned long long waited = 0;
    if (request && ptrace((enum __ptrace_request)request, thread, 0, 0)) return FATHOM_CALL_FAILED;
    for (;;) {
        int status = 0;
        pid_t found = waitpid(thread, &status, WNOHANG | __WALL);
        if (found < 0 || (found > 0 && !WIFSTOPPED(status))) return FATHOM_CALL_ENDED;
        if (found == 0) {
            struct timespec pause = {0, 50000};
            if (waited >= patience_ms * 1000000ull) return FATHOM_CALL_LATE;
            nanosleep(&pause, NULL);
            waited += 50000;
            continue;
        }
        struct user_regs_struct registers;
        if (fathom_registers_get(thread, &registers)) return FATHOM_CALL_ENDED;
        if (status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP && registers.rip == expected) {
            *result = registers.rax;
            return FATHOM_CALL_DONE;
        }
        // Nothing else is delivered to the thread, but faults of its own, which are its end then as ever.
        int own = status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP;
        int next = request ? request : PTRACE_CONT;
        if (ptrace((enum __ptrace_request)next, thread, 0, (void *)(intptr_t)(own ? WSTOPSIG(status) : 0)))
            return FATHOM_CALL_ENDED;
    }
}

#else

// Registers and instructions are those of x86-64. Elsewhere nothing is stopped for a call.
static inline int fathom_refuse(void) {
    errno = ENOSYS;
    return -1;
}
static inline int fathom_stopped_look(pid_t thread, struct fathom_stopped *found) {
    (void)thread, (void)found;
    return fathom_refuse();
}
static inline int fathom_stopped_begin_again(pid_t thread) {
    (void)thread;
    return fathom_refuse();
}
static inline int fathom_keep(pid_t thread, struct fathom_kept *kept) {
    (void)thread, (void)kept;
    return fathom_refuse();
}
static inline int fathom_give_back(pid_t thread, struct fathom_kept *kept) {
    (void)thread, (void)kept;
    return fathom_refuse();
}
static inline int fathom_call_begin(pid_t thread, const struct fathom_kept *kept, uint64_t address, uint64_t stack,
                                    const uint64_t arguments[6], uint64_t number) {
    (void)thread, (void)kept, (void)address, (void)stack, (void)arguments, (void)number;
    return fathom_refuse();
}
static inline int fathom_call_wait(pid_t thread, int request, uint64_t expected, unsigned patience_ms,
                                   uint64_t *result) {
    (void)thread, (void)request, (void)expected, (void)patience_ms, (void)result;
    fathom_refuse();
    return FATHOM_CALL_FAILED;
}

#endif

#endif
