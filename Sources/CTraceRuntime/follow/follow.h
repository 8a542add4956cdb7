// Applies an event to the open calls. The thread is attached and busy.

#ifndef FATHOM_FOLLOW_H
#define FATHOM_FOLLOW_H

#include "stack.h"

void follow(struct thread *t, const struct event *event, uint64_t now);
// Control has landed in a frame at `stack_pointer`, on whichever stack that is.
void follow_landing(struct thread *t, uintptr_t stack_pointer, uint64_t now);

#endif
