// What the fast path leaves to others.

#ifndef FATHOM_ASIDE_H
#define FATHOM_ASIDE_H

#include "thread.h"

// Any thread in any state may come here, with any event but a landing. `context` is Swift's. A landing goes another
// way, fathom_note_landing, because it may leave a hook for good.
SLOW void event_aside(const struct event *event, uintptr_t context);
// The same for a call.
SLOW void hook_aside(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context,
                     enum hook hook);
// The same for a thread that the hook has made busy.
SLOW void hook_slow(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now, enum hook hook);

#endif
