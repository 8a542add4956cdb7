// What the hooks go on with, by mode. Only the hooks' machine code names these functions.

#ifndef FATHOM_HOOKS_H
#define FATHOM_HOOKS_H

#include "../host/base.h"
#include "../host/modes.h"

#define HOOK __attribute__((used, visibility("hidden")))
#define DECLARE_HOOKS(number, NAME, name, extra)                                                                       \
    HOOK void name##_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);       \
    HOOK void name##_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address); \
    HOOK void name##_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
MODES(DECLARE_HOOKS, )
DECLARE_HOOKS(MODE_OFF, OFF, aside, )

#endif
