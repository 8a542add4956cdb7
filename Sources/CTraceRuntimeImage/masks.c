// What stands before the functions of the C library that keep a mask of signals for later, in the attributes of threads
// and in contexts, and before those that ask for signals that are blocked.

#define _GNU_SOURCE
#include "masks.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>

FATHOM_WITHOUT_HOOKS

#define IS_ON __builtin_expect(fathom_traps.on, 0)

// The C library keeps 128 bytes of a mask, of which the kernel knows 8. Behind these, this says that SIGTRAP was in the
// mask and is not any more.
#define MARK 0x9a5b7bd1f0c3e2a7ull
static uint64_t mark_of(const sigset_t *mask) {
    uint64_t mark;
    memcpy(&mark, (const char *)mask + sizeof mark, sizeof mark);
    return mark;
}
static void set_mark(sigset_t *mask, uint64_t mark) { memcpy((char *)mask + sizeof mark, &mark, sizeof mark); }

// Takes SIGTRAP out of a mask, or puts it back where the kernel may have it. Returns whether it is in the mask as the
// program sees it.
static int leave_out(sigset_t *mask) {
    int is_marked = mark_of(mask) == MARK, has = sigismember(mask, SIGTRAP) == 1;
    if (fathom_traps.on == FATHOM_TRAPS_ON && has) {
        sigdelset(mask, SIGTRAP);
        set_mark(mask, MARK);
    } else if (fathom_traps.on != FATHOM_TRAPS_ON && is_marked) {
        sigaddset(mask, SIGTRAP);
        set_mark(mask, 0);
    }
    return has || is_marked;
}

// ---- threads

EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *mask) {
    if (!IS_ON || !mask) JUMP REAL(pthread_attr_setsigmask_np)(attributes, mask);
    sigset_t copy = *mask;
    set_mark(&copy, 0);
    leave_out(&copy);
    return REAL(pthread_attr_setsigmask_np)(attributes, &copy);
}

EXPORT int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *mask) {
    if (!IS_ON) JUMP REAL(pthread_attr_getsigmask_np)(attributes, mask);
    int result = REAL(pthread_attr_getsigmask_np)(attributes, mask);
    if (result == 0 && mark_of(mask) == MARK) {
        sigaddset(mask, SIGTRAP);
        set_mark(mask, 0);
    }
    return result;
}

// What a thread begins with; it gives the memory back.
struct start {
    void *(*routine)(void *);
    void *argument;
};

static void *begin_thread(void *memory) {
    struct start start = *(struct start *)memory;
    REAL(munmap)(memory, sizeof start);
    fathom_trap_blocked(1);
    fathom_traps_passed_on();
    JUMP start.routine(start.argument);
}

int fathom_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                         void *argument) {
    int is_on = fathom_traps.on == FATHOM_TRAPS_ON, was_blocked = fathom_trap_block.is_blocked;
    if (!is_on && was_blocked) fathom_trap_blocked(1);  // in the kernel, from which the new thread inherits it
    int is_blocked = is_on && was_blocked;
    sigset_t mask;
    if (attributes && HAS_REAL(pthread_attr_getsigmask_np) && REAL(pthread_attr_getsigmask_np)(attributes, &mask) == 0)
        is_blocked = leave_out(&mask);
    if (!is_blocked) return REAL(pthread_create)(thread, attributes, routine, argument);
    struct start *start = REAL(mmap)(NULL, sizeof *start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return REAL(pthread_create)(thread, attributes, routine, argument);
    *start = (struct start){routine, argument};
    if (is_on) {
        // A signal that comes before the new thread knows what it has blocked waits.
        fathom_trap_blocked(1);
        fathom_traps_pass_on();
    }
    int result = REAL(pthread_create)(thread, attributes, begin_thread, start);
    if (is_on) {
        fathom_traps_passed_on();
        fathom_trap_blocked(was_blocked);
    }
    if (result) REAL(munmap)(start, sizeof *start);
    return result;
}

// ---- what is pending

void fathom_ask_for_blocked(const sigset_t *set) {
    if (IS_ON && set && fathom_can_read(set, sizeof(uint64_t)) && sigismember(set, SIGTRAP) == 1) fathom_traps_ask();
}

EXPORT int sigpending(sigset_t *set) {
    if (IS_ON) fathom_traps_ask();
    JUMP REAL(sigpending)(set);
}
EXPORT int signalfd(int descriptor, const sigset_t *mask, int flags) {
    fathom_ask_for_blocked(mask);
    JUMP REAL(signalfd)(descriptor, mask, flags);
}

// ---- contexts

// The C library sets the 8 bytes that the kernel knows.
static void keep_mask(sigset_t *mask) {
    if (fathom_traps.on == FATHOM_TRAPS_GIVEN_UP && fathom_trap_block.is_blocked) fathom_trap_blocked(1);
    set_mark(mask, fathom_trap_block.is_blocked ? MARK : 0);
}

void fathom_change_context(ucontext_t *from, const ucontext_t *to) {
    if (!IS_ON) return;
    if (from) keep_mask(&from->uc_sigmask);
    int is_blocked = leave_out((sigset_t *)&to->uc_sigmask);
    if (fathom_traps.on == FATHOM_TRAPS_ON) fathom_trap_block.is_blocked = is_blocked != 0;
}

// It returns once more when somebody goes on there, so this must not be in between.
typedef int get_context(ucontext_t *);
EXPORT int fathom_getcontext(ucontext_t *context) __asm__("getcontext");
int fathom_getcontext(ucontext_t *context) {
    if (IS_ON) keep_mask(&context->uc_sigmask);
    JUMP((get_context *)behind(BEHIND_getcontext))(context);
}

FATHOM_WITHOUT_HOOKS_END
