// Applies an event to the open calls. The thread is attached and busy.

#ifndef FATHOM_FOLLOW_H
#define FATHOM_FOLLOW_H

#include "stack.h"

void follow(struct thread *t, const struct event *event, uint64_t now);
// Control has landed in a frame at `stack_pointer`, on whichever stack that is.
void follow_landing(struct thread *t, uintptr_t stack_pointer, uint64_t now);

// How open calls of the running stack end: by their exit hooks, or without them.

// Ends the innermost call by its exit hook.
void ending_by_exit(struct thread *t, uint64_t now);
// The same, by a sled that may tell the function's registers.
void ending_with_result(struct thread *t, const struct event *exit, uint64_t now);
// Ends the innermost `count` calls without their exit hooks.
void ending_unwind(struct thread *t, uint32_t count, uint64_t now);
// Ends the calls in frames below `stack_pointer`, and those of signal handlers that interrupted what is above it.
// Returns the calls on that stack as they were.
struct stretch ending_by_landing(struct thread *t, uintptr_t stack_pointer, uint64_t now);
// The open call that an exit ends; NULL if no known call fits.
struct frame *ending_find(struct thread *t, const struct event *exit);

#endif
