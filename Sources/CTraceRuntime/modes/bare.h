// Hooks that do not mark the thread as busy, and how they follow calls that leave no record: those that are entered
// while recording is stopped, those that are too deep, and all calls of modes that keep no record of any.
//
// A frame is pushed or popped by one store, that of `top`, and so the thread need not be made busy: a handler's hooks
// before the store do not find the call, and those after it find the whole call. But a handler may meanwhile have used
// the same place, moved the frames, or started recording. A hook that finds a sign of that at its end
// mends what it did.

#ifndef FATHOM_BARE_H
#define FATHOM_BARE_H

#include "../follow/aside.h"
#include "../host/runtime.h"
#include "hooks.h"

FATHOM_WITHOUT_HOOKS

// Reads or writes the field exactly once, at this place of the code, because a handler may come before or after. A
// barrier does not keep the compiler from reading later.
#define ONCE(field) (*(volatile __typeof__(field) *)&(field))

// Mend what a signal handler that came in between has changed. `caller` and `call` are where the hook found them.
SLOW void hidden_mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context,
                            struct frame *caller);
SLOW void hidden_mend_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address,
                           struct frame *call);

// What a hook finds when it begins. `settled` is read first, so that a handler that comes after it is noticed.
struct found {
    uint64_t settled;
    struct frame *top;
};
INTERNAL struct found hidden_begin(const struct thread *t) {
    uint64_t settled = ONCE(t->settled);
    return (struct found){settled, ONCE(t->top)};
}

// Pushes a call, with its mode's own word if there is one. Returns 0 when a handler has come in between, and there is
// something to mend.
INTERNAL int hidden_push(uintptr_t function, uintptr_t call_site, uintptr_t sp, struct found found,
                         const uint64_t *word) {
    struct thread *t = &current;
    struct frame *call = found.top + 1;
    uintptr_t place = sp + FRAME_HIDDEN;  // the flag's bit is clear before
    call->function = function;
    call->call_site = call_site;
    call->stack_pointer = place;
    // Release: a recorder that reads the frames reads this word first, and then the function.
    if (word) fathom_store64(&call->shown, *word);
    BARRIER();
    ONCE(t->top) = call;
    BARRIER();
    return LIKELY(t->settled == found.settled && call->stack_pointer == place);
}

INTERNAL void hidden_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context,
                           struct found found) {
    if (UNLIKELY(!hidden_push(function, call_site, sp, found, NULL)))
        return hidden_mend_enter(function, call_site, sp, context, found.top);
    current.hidden_calls++;
}

INTERNAL void hidden_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address,
                          struct found found) {
    struct thread *t = &current;
    ONCE(t->top) = found.top - 1;
    BARRIER();
    if (UNLIKELY(t->settled != found.settled)) hidden_mend_exit(function, call_site, sp, return_address, found.top);
}

// Whether the thread knows the mode and the options, and is not busy. Relaxed: the thread took over the options under
// the lock, when it learnt of this word.
INTERNAL int is_ready(const struct thread *t) { return t->idle == __atomic_load_n(&control.word, __ATOMIC_RELAXED); }

INTERNAL int bare_can_push(const struct thread *t, uintptr_t sp, struct found found) {
    return found.top + 1 < t->end && lies_below(t, sp, found.top);
}

// Whether a call can be pushed, as for nearly all calls one comparison shows. If it is 0, bare_can_push tells.
INTERNAL int bare_fits(const struct thread *t, uintptr_t sp, struct found found) {
    intptr_t sign = (intptr_t)(sp - t->low);
    sign = either(sign, (intptr_t)(found.top->stack_pointer - sp));
    sign = either(sign, (intptr_t)t->end - (intptr_t)(found.top + 2));
    return sign >= 0;
}

// The addresses look odd, or the exit is not that of the innermost call.
NEXT void bare_leave_other(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address,
                           int is_shown) {
    struct thread *t = &current;
    struct found found = hidden_begin(t);
    int is_any = function == ANY_FUNCTION;
    if (UNLIKELY(!is_ready(t) || (is_any ? !is_function(found.top) : found.top->function != function) ||
                 !exit_fits(t, found.top, sp, return_address == call_site)))
        return aside_exit(function, call_site, sp, return_address);
    if (is_shown) found.top->shown = 0;
    hidden_exit(function, call_site, sp, return_address, found);
}

// With `is_shown`, the call's word is cleared before the call is (CTraceStack.h).
INTERNAL void bare_leave(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any,
                         int is_shown) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return aside_exit(function, call_site, sp, return_address);
    struct found found = hidden_begin(t);
    const struct frame *bound = exit_bound(found.top, return_address == call_site);
    intptr_t sign = either((intptr_t)(sp - t->low), (intptr_t)(bound->stack_pointer - sp));
    if (UNLIKELY((is_any ? !is_function(found.top) : found.top->function != function) || sign < 0))
        return bare_leave_other(function, call_site, sp, return_address, is_shown);
    if (is_shown) found.top->shown = 0;
    hidden_exit(function, call_site, sp, return_address, found);
}

// The exit hooks of the mode NAME.
#define BARE_EXITS(NAME, is_shown)                                                                                     \
    void NAME##_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {                \
        bare_leave(function, call_site, sp, return_address, 0, is_shown);                                              \
    }                                                                                                                  \
    void NAME##_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {                                      \
        (void)function, (void)call_site;                                                                               \
        bare_leave(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1, is_shown);                                    \
    }

FATHOM_WITHOUT_HOOKS_END

#endif
