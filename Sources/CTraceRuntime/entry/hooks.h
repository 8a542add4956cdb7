// What is not the fast path's. Any thread in any state may come here.

#ifndef FATHOM_HOOKS_H
#define FATHOM_HOOKS_H

#include "../host/base.h"

SLOW void hook_aside(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context,
                     uint64_t hook);
// The same for a thread that the hook has made busy.
SLOW void hook_slow(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now, uint64_t hook);

// What the hooks go on with, by mode. Only their machine code names these.
#define HOOK __attribute__((used, visibility("hidden")))
HOOK void trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);
HOOK void trace_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void trace_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void aside_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);
HOOK void aside_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void aside_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void paused_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void paused_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void paused_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void slow_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);
HOOK void slow_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void slow_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);

#endif
