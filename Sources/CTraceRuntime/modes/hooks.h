// What the hooks go on with, by mode. Hooks for no mode go on with the functions of follow/aside.h.

#ifndef FATHOM_HOOKS_H
#define FATHOM_HOOKS_H

#include "../host/base.h"
#include "../host/modes.h"

#define HOOK __attribute__((used, visibility("hidden")))

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
