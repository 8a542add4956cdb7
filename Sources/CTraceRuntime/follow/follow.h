// Following: what an event means for the calls that are open. The thread is attached and busy.

#ifndef FATHOM_FOLLOW_H
#define FATHOM_FOLLOW_H

#include "stack.h"

void follow(struct thread *t, const struct event *event, uint64_t now);
// Control landed in a frame at `stack_pointer`, on whatever stack that is.
void follow_landing(struct thread *t, uintptr_t stack_pointer, uint64_t now);

#endif
