// What the fast path leaves to others.

#ifndef FATHOM_ASIDE_H
#define FATHOM_ASIDE_H

#include "thread.h"

// Any thread in any state may come here, with any event but a landing. A landing goes another way, fathom_note_landing,
// because it may leave a hook for good.
SLOW void aside_event(const struct event *event);
// The same, for a thread that is busy already.
SLOW void aside_busy_event(const struct event *event, uint64_t now);
// The same as aside_event for a call.
SLOW void aside_hook(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context,
                     enum hook hook);
// The same as aside_hook, for a thread that the hook has already made busy.
SLOW void aside_busy_hook(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context,
                          uint64_t now, enum hook hook);
// The same, for an enter hook whose function's registers were saved.
SLOW void aside_busy_hook_saved(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context,
                                uint64_t now, enum hook hook, const struct registers *registers);
// Follows the events that signal handlers have left meanwhile, when a hook has made the thread idle again.
SLOW void aside_busy_end(void);

// A hook that can do nothing by itself goes on here, with the arguments that it got; see modes/hooks.h.
SLOW void aside_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context)
    __attribute__((used));
SLOW void aside_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address)
    __attribute__((used));
SLOW void aside_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer) __attribute__((used));

#endif
