// Lets a stopped thread of another process call a function, in C because Swift cannot call ptrace, which is variadic.
//
// The thread puts itself back into its former state, whatever becomes of whoever stopped it: the function returns to
// the C library's `raise`, with a signal that the program ignores, and that returns to the C library's code for the end
// of a signal handler, over a frame like the kernel's, which holds what the thread had in its registers, those of
// vectors included, and which signals it blocked. Whoever traces the thread finds it at the signal, and does the rest
// himself.

#ifndef CREMOTECALL_H
#define CREMOTECALL_H

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
#define FATHOM_CALL_ENDED 1   // the thread, or its process, has ended
#define FATHOM_CALL_FAILED 2  // it could not be made, see errno

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

// A system call that the stop has ended early, with EINTR: makes the kernel decide as it does of others whether a
// handler runs, with which the call ends, or it begins again (include/linux/errno.h).
static inline int fathom_stopped_decide(pid_t thread) {
    struct user_regs_struct registers;
    if (fathom_registers_get(thread, &registers)) return -1;
    registers.rax = (unsigned long long)-514;  // ERESTARTNOHAND
    return fathom_registers_set(thread, &registers);
}

// Keeps what the thread has. 0, or -1 and errno.
static inline int fathom_keep(pid_t thread, struct fathom_kept *kept) {
    kept->vectors = (char *)malloc(FATHOM_VECTORS_LIMIT);
    if (!kept->vectors) return -1;
    struct iovec place = {kept->vectors, FATHOM_VECTORS_LIMIT};
    if (!fathom_registers_get(thread, &kept->registers) &&
        !ptrace(PTRACE_GETREGSET, thread, (void *)(uintptr_t)NT_X86_XSTATE, &place) &&
        !ptrace((enum __ptrace_request)PTRACE_GETSIGMASK, thread, (void *)sizeof kept->signals, &kept->signals)) {
        kept->vectors_size = place.iov_len;
        return 0;
    }
    int reason = errno;
    free(kept->vectors);
    kept->vectors = NULL;
    errno = reason;
    return -1;
}

// Lets it go on elsewhere. It was in no system call.
static inline void fathom_kept_move(struct fathom_kept *kept, uint64_t program_counter) {
    kept->registers.rip = program_counter;
}

static inline void fathom_forget(struct fathom_kept *kept) {
    free(kept->vectors);
    kept->vectors = NULL;
}

// Whether the thread was in a system call of which the kernel has to decide whether, and for how long, it goes on
// (include/linux/errno.h: ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK).
static inline int fathom_kept_waits(const struct fathom_kept *kept) {
    int64_t result = (int64_t)kept->registers.rax;
    return (int64_t)kept->registers.orig_rax >= 0 &&
           (result == -512 || result == -513 || result == -514 || result == -516);
}

// The registers with which the thread goes on as if it had not been stopped: a system call begins again.
static inline struct user_regs_struct fathom_going_on(const struct fathom_kept *kept) {
    struct user_regs_struct registers = kept->registers;
    if (fathom_kept_waits(kept)) {
        registers.rax = registers.orig_rax;
        registers.rip -= 2;
    }
    registers.orig_rax = (unsigned long long)-1;
    return registers;
}

// The kernel's frame of a signal, as far as rt_sigreturn reads it: arch/x86/include/uapi/asm/sigcontext.h, ucontext.h.
struct fathom_signal_frame {
    uint64_t flags, link;
    uint64_t stack, stack_flags, stack_size;
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, eflags, segments;
    uint64_t error, trap, mask, fault, vectors;
    uint64_t reserved[8];
    uint64_t signals;
};
_Static_assert(sizeof(struct fathom_signal_frame) == 304, "as the kernel's");

#define FATHOM_VECTORS_LEAST 576u  // the oldest ones, and the header that tells of the others
// The bytes of the kept vectors up to the last ones that are in use, which the kernel wants to be no more than what the
// thread may use.
static inline size_t fathom_vectors_size(const struct fathom_kept *kept, uint64_t *features) {
    uint64_t used = 0;
    size_t size = FATHOM_VECTORS_LEAST;
    if (kept->vectors_size < size) return 0;
    memcpy(features, kept->vectors + 464, sizeof *features);
    memcpy(&used, kept->vectors + 512, sizeof used);
    for (unsigned i = 2; i < 63; i++) {
        unsigned length = 0xd, offset, c = i, d;
        if (!(used >> i & 1)) continue;
        __asm__("cpuid" : "+a"(length), "=b"(offset), "+c"(c), "=d"(d));
        if (offset + length > size) size = offset + length;
    }
    // Tiles are for those who have asked for them.
    *features &= ~0x60000ull | used;
    return size <= kept->vectors_size ? size : 0;
}

#define FATHOM_FRAME_LIMIT (FATHOM_VECTORS_LIMIT + 4096u)

// Writes a frame that brings back what was kept, to lie below `end`. Returns its address, and its size; 0 when there is
// no such frame.
static inline uint64_t fathom_frame(const struct fathom_kept *kept, uint64_t end, char *bytes, size_t *size) {
    uint64_t features = 0;
    size_t vectors = fathom_vectors_size(kept, &features);
    if (!vectors) return 0;
    uint64_t vectors_at = (end - vectors - 4) & ~63ull, at = (vectors_at - sizeof(struct fathom_signal_frame)) & ~15ull;
    *size = (size_t)(vectors_at + vectors + 4 - at);
    if (*size > FATHOM_FRAME_LIMIT) return 0;
    struct user_regs_struct r = fathom_going_on(kept);
    struct fathom_signal_frame frame = {
        .flags = 7,        // vectors are there, and the stack segment is to be what it was
        .stack_flags = 7,  // what no alternative stack has, so that it stays as it is
        .r8 = r.r8,
        .r9 = r.r9,
        .r10 = r.r10,
        .r11 = r.r11,
        .r12 = r.r12,
        .r13 = r.r13,
        .r14 = r.r14,
        .r15 = r.r15,
        .rdi = r.rdi,
        .rsi = r.rsi,
        .rbp = r.rbp,
        .rbx = r.rbx,
        .rdx = r.rdx,
        .rax = r.rax,
        .rcx = r.rcx,
        .rsp = r.rsp,
        .rip = r.rip,
        .eflags = r.eflags,
        .segments = (r.cs & 0xffff) | (r.ss & 0xffff) << 48,
        .vectors = vectors_at,
        .signals = kept->signals,
    };
    memset(bytes, 0, *size);
    memcpy(bytes, &frame, sizeof frame);
    char *v = bytes + (vectors_at - at);
    memcpy(v, kept->vectors, vectors);
    // struct _fpx_sw_bytes, and what ends it all.
    uint32_t first = 0x46505853, whole = (uint32_t)vectors + 4, inner = (uint32_t)vectors, last = 0x46505845;
    memset(v + 464, 0, 48);
    memcpy(v + 464, &first, 4);
    memcpy(v + 468, &whole, 4);
    memcpy(v + 472, &features, 8);
    memcpy(v + 480, &inner, 4);
    memcpy(v + vectors, &last, 4);
    return at;
}

// Blocks all signals but `awaited` and those of faults and traps, because a fault whose signal is blocked would take
// the program's handler away.
static inline int fathom_block(pid_t thread, int awaited) {
    uint64_t open = 0, all;
    for (const int *signal = (const int[]){SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, awaited, 0}; *signal;
         signal++)
        open |= 1ull << (*signal - 1);
    all = ~open;
    return ptrace((enum __ptrace_request)PTRACE_SETSIGMASK, thread, (void *)sizeof all, &all) ? -1 : 0;
}

static inline struct user_regs_struct fathom_going_to(struct user_regs_struct registers, uint64_t address,
                                                      const uint64_t arguments[6]) {
    registers.rip = address;
    registers.rdi = arguments[0];
    registers.rsi = arguments[1];
    registers.rdx = arguments[2];
    registers.rcx = arguments[3];
    registers.r10 = arguments[3];
    registers.r8 = arguments[4];
    registers.r9 = arguments[5];
    registers.rax = 0;
    registers.eflags &= ~0x500ull;  // neither the direction nor the trap flag is set when a function is called
    registers.orig_rax = (unsigned long long)-1;  // no system call is to begin again
    return registers;
}

// Makes the thread call the function at `address`. `result_at` is for rbx, which functions keep. `awaited` is the
// signal that comes afterwards.
static inline int fathom_call_begin(pid_t thread, const struct fathom_kept *kept, uint64_t address, uint64_t stack,
                                    const uint64_t arguments[6], uint64_t result_at, int awaited) {
    struct user_regs_struct registers = fathom_going_to(kept->registers, address, arguments);
    registers.rsp = stack;
    registers.rbx = result_at;
    registers.rbp = 0;
    if (fathom_registers_set(thread, &registers)) return -1;
    // This comes behind: what blocks them would stay, if we were killed in between.
    return fathom_block(thread, awaited);
}

// The state of a process or thread, as proc_pid_stat(5) has it, and its parent. Returns 0 where there is none.
static inline int fathom_state_of(pid_t thread, char *state, pid_t *parent) {
    char path[32], line[512];
    snprintf(path, sizeof path, "/proc/%d/stat", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    ssize_t size = read(file, line, sizeof line - 1);
    close(file);
    if (size <= 0) return 0;
    line[size] = 0;
    // pid (name) state parent; the name can hold anything.
    const char *end = strrchr(line, ')');
    return end && sscanf(end + 1, " %c %d", state, parent) == 2;
}

// Whether a thread has died, and nobody was told.
static inline int fathom_has_died(pid_t thread) {
    char state;
    pid_t parent;
    return !fathom_state_of(thread, &state, &parent) || state == 'Z' || state == 'X';
}

// Waits for what becomes of a thread. Returns waitpid's answer, or -1 where the thread has died, but stands for all
// threads of its process, and others of these are stopped: as long as they are, waitpid tells nothing of it.
static inline pid_t fathom_call_wait(pid_t thread, int *status) {
    for (unsigned tries = 1;; tries++) {
        pid_t found = waitpid(thread, status, WNOHANG | __WALL);
        if (found > 0 || (found < 0 && errno != EINTR)) return found;
        if (tries % 64 == 0 && fathom_has_died(thread)) return -1;
        // At first it is about to stop.
        if (tries < 64) sched_yield();
        else usleep(50);
    }
}

// Lets the thread go on by `request` until its next stop that is not the delivery of a signal, or is that of `awaited`.
// FATHOM_CALL_*. Nothing is delivered but faults of the thread's own, which are its end then as ever.
static inline int fathom_call_step(pid_t thread, int request, int awaited, int *stop) {
    long passed = 0;
    for (;;) {
        int status = 0;
        if (ptrace((enum __ptrace_request)request, thread, 0, (void *)passed)) return FATHOM_CALL_ENDED;
        if (fathom_call_wait(thread, &status) < 0 || !WIFSTOPPED(status)) return FATHOM_CALL_ENDED;
        *stop = status >> 8;
        int signal = WSTOPSIG(status);
        if (*stop >> 8 || signal == SIGTRAP || signal == awaited) return FATHOM_CALL_DONE;
        passed = signal != SIGSTOP ? signal : 0;
    }
}

// Lets the thread run until it gets `signal`, which it is not given.
static inline int fathom_call_run(pid_t thread, int signal) {
    int stop = 0, found;
    do found = fathom_call_step(thread, PTRACE_CONT, signal, &stop);
    while (found == FATHOM_CALL_DONE && stop != signal);
    return found;
}

// Gives a thread back what it had that is where fathom_call_run leaves it. Until the last step, the thread does so
// itself if we are killed. Then the kernel decides whether a system call goes on that was interrupted.
static inline int fathom_call_return(pid_t thread, const struct fathom_kept *kept) {
    struct iovec place = {kept->vectors, kept->vectors_size};
    int failed =
        ptrace(PTRACE_SETREGSET, thread, (void *)(uintptr_t)NT_X86_XSTATE, &place) ||
        ptrace((enum __ptrace_request)PTRACE_SETSIGMASK, thread, (void *)sizeof kept->signals, &kept->signals) ||
        fathom_registers_set(thread, &kept->registers);
    return failed ? FATHOM_CALL_ENDED : FATHOM_CALL_DONE;
}

// One system call, by the instruction at `address`. The thread has what it had again at once. If we are killed
// meanwhile, it has not.
static inline int fathom_call_system(pid_t thread, const struct fathom_kept *kept, uint64_t address,
                                     const uint64_t arguments[6], uint64_t number, uint64_t *result) {
    struct user_regs_struct before, registers;
    if (fathom_registers_get(thread, &before) || fathom_block(thread, SIGTRAP)) return FATHOM_CALL_FAILED;
    registers = fathom_going_to(before, address, arguments);
    registers.rax = number;
    if (fathom_registers_set(thread, &registers)) return FATHOM_CALL_FAILED;
    do {
        int stop = 0, found = fathom_call_step(thread, PTRACE_SINGLESTEP, SIGTRAP, &stop);
        if (found != FATHOM_CALL_DONE) return found;
        if (fathom_registers_get(thread, &registers)) return FATHOM_CALL_ENDED;
    } while (registers.rip == address);
    *result = registers.rax;
    int failed = fathom_registers_set(thread, &before) ||
                 ptrace((enum __ptrace_request)PTRACE_SETSIGMASK, thread, (void *)sizeof kept->signals, &kept->signals);
    return failed ? FATHOM_CALL_ENDED : FATHOM_CALL_DONE;
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
static inline int fathom_stopped_decide(pid_t thread) {
    (void)thread;
    return fathom_refuse();
}
static inline int fathom_keep(pid_t thread, struct fathom_kept *kept) {
    (void)thread, (void)kept;
    return fathom_refuse();
}
static inline void fathom_kept_move(struct fathom_kept *kept, uint64_t program_counter) {
    (void)kept, (void)program_counter;
}
static inline void fathom_forget(struct fathom_kept *kept) { (void)kept; }
#define FATHOM_FRAME_LIMIT 1u
static inline uint64_t fathom_frame(const struct fathom_kept *kept, uint64_t end, char *bytes, size_t *size) {
    (void)kept, (void)end, (void)bytes, (void)size;
    return 0;
}
static inline int fathom_call_begin(pid_t thread, const struct fathom_kept *kept, uint64_t address, uint64_t stack,
                                    const uint64_t arguments[6], uint64_t result_at, int awaited) {
    (void)thread, (void)kept, (void)address, (void)stack, (void)arguments, (void)result_at, (void)awaited;
    return fathom_refuse();
}
static inline int fathom_call_run(pid_t thread, int signal) {
    (void)thread, (void)signal;
    fathom_refuse();
    return FATHOM_CALL_FAILED;
}
static inline int fathom_call_return(pid_t thread, const struct fathom_kept *kept) {
    (void)kept;
    return fathom_call_run(thread, 0);
}
static inline int fathom_call_system(pid_t thread, const struct fathom_kept *kept, uint64_t address,
                                     const uint64_t arguments[6], uint64_t number, uint64_t *result) {
    (void)kept, (void)address, (void)arguments, (void)number, (void)result;
    return fathom_call_run(thread, 0);
}

#endif

#endif
