// What stands before the functions of the C library that say what becomes of signals. Where first calls are recorded,
// SIGTRAP is the runtime's, and the kernel ends a process that hits a trap while it is blocked. So the program may say
// what it wants of SIGTRAP, and reads it back, but it never reaches the kernel. Elsewhere each of these is one test and
// a jump.

#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CTraceRuntime.h"
#include "behind.h"

FATHOM_WITHOUT_HOOKS

#define IS_ON __builtin_expect(fathom_traps.on, 0)
#define TRAP_BIT (1ull << (SIGTRAP - 1))

#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // old programs call these all the same

typedef void (*handler)(int);
// glibc declares these for other standards only, or not any more.
handler sysv_signal(int, handler), __sysv_signal(int, handler), ssignal(int, handler);
handler sigset(int, handler);
int sigblock(int), sigsetmask(int), sigignore(int), sighold(int), sigrelse(int);

__attribute__((visibility("hidden"))) void fathom_image_started(void) { fathom_traps_begin(); }

// ---- actions

static handler exchange(handler wanted, int flags) {
    struct fathom_trap_action before = fathom_traps.action;
    fathom_traps.action = (struct fathom_trap_action){(void *)wanted, 0, (uint32_t)flags};
    return (handler)before.handler;
}

EXPORT int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old) {
    if (!IS_ON) JUMP REAL(sigaction)(number, action, old);
    if (number != SIGTRAP) {
        if (!action || sigismember(&action->sa_mask, SIGTRAP) != 1) JUMP REAL(sigaction)(number, action, old);
        struct sigaction copy = *action;
        sigdelset(&copy.sa_mask, SIGTRAP);
        return REAL(sigaction)(number, &copy, old);
    }
    struct fathom_trap_action before = fathom_traps.action;
    if (action) {
        struct fathom_trap_action wanted = {.handler = (void *)action->sa_handler, .flags = (uint32_t)action->sa_flags};
        memcpy(&wanted.mask, &action->sa_mask, sizeof wanted.mask);
        fathom_traps.action = wanted;
    }
    if (old) {
        memset(old, 0, sizeof *old);
        old->sa_handler = (handler)before.handler;
        old->sa_flags = (int)before.flags;
        memcpy(&old->sa_mask, &before.mask, sizeof before.mask);
    }
    return 0;
}

#define SIGNAL(name, flags)                                                                                            \
    EXPORT handler name(int number, handler wanted) {                                                                  \
        if (!IS_ON || number != SIGTRAP) JUMP REAL(name)(number, wanted);                                              \
        return exchange(wanted, flags);                                                                                \
    }
SIGNAL(signal, SA_RESTART)
SIGNAL(ssignal, SA_RESTART)
SIGNAL(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SIGNAL(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))

// ---- masks

static void block(int is_blocked) {
    fathom_trap_block.is_blocked = is_blocked != 0;
    if (is_blocked || !fathom_trap_block.is_pending) return;
    fathom_trap_block.is_pending = 0;
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP);
}

typedef int change_mask(int, const sigset_t *, sigset_t *);

static int change(change_mask *real, int how, const sigset_t *set, sigset_t *old) {
    sigset_t wanted;
    int is_named = 0, was_blocked = fathom_trap_block.is_blocked;
    if (set) {
        wanted = *set;
        is_named = sigismember(set, SIGTRAP) == 1;
        sigdelset(&wanted, SIGTRAP);
    }
    int result = real(how, set ? &wanted : NULL, old);
    if (result != 0) return result;
    if (old && was_blocked) sigaddset(old, SIGTRAP);
    if (set) block(how == SIG_BLOCK ? was_blocked | is_named : how == SIG_UNBLOCK ? was_blocked & !is_named : is_named);
    return 0;
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    if (!IS_ON) JUMP REAL(sigprocmask)(how, set, old);
    return change(REAL(sigprocmask), how, set, old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old) {
    if (!IS_ON) JUMP REAL(pthread_sigmask)(how, set, old);
    return change(REAL(pthread_sigmask), how, set, old);
}

EXPORT int sigsuspend(const sigset_t *set) {
    if (!IS_ON || sigismember(set, SIGTRAP) != 1) JUMP REAL(sigsuspend)(set);
    sigset_t wanted = *set;
    sigdelset(&wanted, SIGTRAP);
    return REAL(sigsuspend)(&wanted);
}

// ---- what older programs call

static int with_trap(int mask, int was_blocked) { return was_blocked ? mask | (int)TRAP_BIT : mask; }

EXPORT int sigblock(int mask) {
    if (!IS_ON) JUMP REAL(sigblock)(mask);
    int was_blocked = fathom_trap_block.is_blocked;
    int before = REAL(sigblock)(mask & ~(int)TRAP_BIT);
    if (mask & (int)TRAP_BIT) block(1);
    return with_trap(before, was_blocked);
}

EXPORT int sigsetmask(int mask) {
    if (!IS_ON) JUMP REAL(sigsetmask)(mask);
    int was_blocked = fathom_trap_block.is_blocked;
    int before = REAL(sigsetmask)(mask & ~(int)TRAP_BIT);
    block((mask & (int)TRAP_BIT) != 0);
    return with_trap(before, was_blocked);
}

EXPORT int sighold(int number) {
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sighold)(number);
    block(1);
    return 0;
}

EXPORT int sigrelse(int number) {
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sigrelse)(number);
    block(0);
    return 0;
}

EXPORT int sigignore(int number) {
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sigignore)(number);
    exchange(SIG_IGN, 0);
    return 0;
}

EXPORT handler sigset(int number, handler wanted) {
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sigset)(number, wanted);
    int was_blocked = fathom_trap_block.is_blocked;
    handler before = (handler)fathom_traps.action.handler;
    if (wanted != SIG_HOLD) exchange(wanted, 0);
    block(wanted == SIG_HOLD);
    return was_blocked ? SIG_HOLD : before;
}

// ---- code that the program changes itself

EXPORT int mprotect(void *start, size_t size, int protection) {
    if (IS_ON && !(protection & PROT_WRITE)) fathom_note_memory(start, size);
    JUMP REAL(mprotect)(start, size, protection);
}

FATHOM_WITHOUT_HOOKS_END
