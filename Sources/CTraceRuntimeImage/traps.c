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
#include "masks.h"

FATHOM_WITHOUT_HOOKS

#define IS_ON __builtin_expect(fathom_traps.on, 0)
#define TRAP_BIT (1ull << (SIGTRAP - 1))

#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // old programs call these all the same

typedef void (*handler)(int);
// glibc declares these for other standards only, or not any more.
handler sysv_signal(int, handler), __sysv_signal(int, handler), ssignal(int, handler);
handler sigset(int, handler);
int sigblock(int), sigsetmask(int), sigignore(int), sighold(int), sigrelse(int);

// ---- actions

static handler exchange(handler wanted, int flags) {
    struct fathom_trap_action before = fathom_traps.action;
    fathom_traps.action = (struct fathom_trap_action){(void *)wanted, 0, (uint32_t)flags};
    return (handler)before.handler;
}

// The signals whose handlers block SIGTRAP, as the program sees it: a bit each. Signals are set one by one, or the
// program cannot know what it reads back either.
static uint64_t masked;

static int act(int number, const struct sigaction *action, struct sigaction *old) {
    uint64_t bit = number > 0 && number <= 64 ? 1ull << (number - 1) : 0;
    int had = (__atomic_load_n(&masked, __ATOMIC_RELAXED) & bit) != 0, has = 0;
    struct sigaction copy;
    if (action && fathom_traps.on == FATHOM_TRAPS_ON && sigismember(&action->sa_mask, SIGTRAP) == 1) {
        has = 1;
        copy = *action;
        sigdelset(&copy.sa_mask, SIGTRAP);
        action = &copy;
    }
    int result = REAL(sigaction)(number, action, old);
    if (result) return result;
    if (old && had) sigaddset(&old->sa_mask, SIGTRAP);
    if (has) __atomic_or_fetch(&masked, bit, __ATOMIC_RELAXED);
    else if (action && had) __atomic_and_fetch(&masked, ~bit, __ATOMIC_RELAXED);
    return 0;
}

// A function that knows no masks sets this signal's action.
static void act_without_mask(int number) {
    if (number > 0 && number <= 64) __atomic_and_fetch(&masked, ~(1ull << (number - 1)), __ATOMIC_RELAXED);
}

EXPORT int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict old) {
    if (!IS_ON) JUMP REAL(sigaction)(number, action, old);
    if (number != SIGTRAP) return act(number, action, old);
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
        if (IS_ON && number != SIGTRAP) act_without_mask(number);                                                      \
        if (!IS_ON || number != SIGTRAP) JUMP REAL(name)(number, wanted);                                              \
        return exchange(wanted, flags);                                                                                \
    }
SIGNAL(signal, SA_RESTART)
SIGNAL(ssignal, SA_RESTART)
SIGNAL(sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))
SIGNAL(__sysv_signal, (int)(SA_RESETHAND | SA_NODEFER))

// ---- masks

typedef int change_mask(int, const sigset_t *, sigset_t *);

static int change(change_mask *real, int how, const sigset_t *set, sigset_t *old) {
    int was_blocked = fathom_trap_block.is_blocked, is_named = set && sigismember(set, SIGTRAP) == 1;
    if (fathom_traps.on == FATHOM_TRAPS_GIVEN_UP) {
        if (was_blocked) fathom_trap_blocked(1);
        return real(how, set, old);
    }
    sigset_t wanted;
    if (is_named) {
        wanted = *set;
        sigdelset(&wanted, SIGTRAP);
        set = &wanted;
    }
    int result = real(how, set, old);
    if (result != 0) return result;
    if (old && was_blocked) sigaddset(old, SIGTRAP);
    if (set) {
        fathom_trap_blocked(how == SIG_BLOCK     ? was_blocked | is_named
                            : how == SIG_UNBLOCK ? was_blocked & !is_named
                                                 : is_named);
    }
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

int fathom_mask_begins(const sigset_t *mask, sigset_t *without) {
    int was_blocked = fathom_trap_block.is_blocked;
    memset(without, 0, sizeof *without);
    memcpy(without, mask, sizeof(uint64_t));
    fathom_trap_block.is_blocked = sigismember(without, SIGTRAP) == 1;
    sigdelset(without, SIGTRAP);
    return was_blocked;
}

void fathom_mask_ends(int was_blocked) { fathom_trap_blocked(was_blocked); }

// ---- what older programs call

static int with_trap(int mask, int was_blocked) { return was_blocked ? mask | (int)TRAP_BIT : mask; }

EXPORT int sigblock(int mask) {
    if (!IS_ON) JUMP REAL(sigblock)(mask);
    int was_blocked = fathom_trap_block.is_blocked;
    int before = REAL(sigblock)(mask & ~(int)TRAP_BIT);
    if (mask & (int)TRAP_BIT) fathom_trap_blocked(1);
    return with_trap(before, was_blocked);
}

EXPORT int sigsetmask(int mask) {
    if (!IS_ON) JUMP REAL(sigsetmask)(mask);
    int was_blocked = fathom_trap_block.is_blocked;
    int before = REAL(sigsetmask)(mask & ~(int)TRAP_BIT);
    fathom_trap_blocked((mask & (int)TRAP_BIT) != 0);
    return with_trap(before, was_blocked);
}

EXPORT int sighold(int number) {
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sighold)(number);
    fathom_trap_blocked(1);
    return 0;
}

EXPORT int sigrelse(int number) {
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sigrelse)(number);
    fathom_trap_blocked(0);
    return 0;
}

EXPORT int sigignore(int number) {
    if (IS_ON && number != SIGTRAP) act_without_mask(number);
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sigignore)(number);
    exchange(SIG_IGN, 0);
    return 0;
}

EXPORT handler sigset(int number, handler wanted) {
    if (IS_ON && number != SIGTRAP) act_without_mask(number);
    if (!IS_ON || number != SIGTRAP) JUMP REAL(sigset)(number, wanted);
    int was_blocked = fathom_trap_block.is_blocked;
    handler before = (handler)fathom_traps.action.handler;
    if (wanted != SIG_HOLD) exchange(wanted, 0);
    fathom_trap_blocked(wanted == SIG_HOLD);
    return was_blocked ? SIG_HOLD : before;
}

// ---- code that the program changes itself

EXPORT int mprotect(void *start, size_t size, int protection) {
    if (IS_ON && !(protection & PROT_WRITE)) fathom_note_memory(start, size);
    JUMP REAL(mprotect)(start, size, protection);
}

FATHOM_WITHOUT_HOOKS_END
