// Hooks that push or pop a frame by one store and do not mark the thread as busy, as with calls that leave no record
// (follow/hidden.h).

#ifndef FATHOM_BARE_H
#define FATHOM_BARE_H

#include "../follow/aside.h"
#include "../follow/hidden.h"
#include "hooks.h"

FATHOM_WITHOUT_HOOKS

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
