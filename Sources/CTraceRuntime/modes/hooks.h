// What the hooks go on with, by mode. Hooks for no mode go on with the functions of follow/aside.h.

#ifndef FATHOM_HOOKS_H
#define FATHOM_HOOKS_H

#include "../host/base.h"
#include "../host/modes.h"

#define HOOK __attribute__((used, visibility("hidden")))
// What a hook goes on with in rare cases. It is not inlined, so that the hook need not save registers for it.
#define NEXT __attribute__((noinline)) static

// Branches cost more in these hooks than anything else. So one branch serves all comparisons of addresses: it is taken
// if one of the differences is negative, and a second function then finds out which. This is negative if one of the two
// is. The empty assembly keeps the compiler from computing them side by side, which would need saved registers.
INTERNAL intptr_t either(intptr_t sign, intptr_t other) {
    sign |= other;
    __asm__("" : "+r"(sign));
    return sign;
}

// A mode that records all calls. Only the hooks' machine code names these functions.
#define DECLARE_HOOKS(number, NAME, name, condition, extra)                                                            \
    HOOK void name##_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);       \
    HOOK void name##_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address); \
    HOOK void name##_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
RECORDING_MODES(DECLARE_HOOKS, )

// MODE_SLOW, for calls that are not hidden. `settled` is the thread's as it was before the hook looked at anything else
// of it. The exit is that of the innermost call.
HOOK void slow_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t settled);
HOOK void slow_exit(uintptr_t stack_pointer, uint64_t settled);

#endif
