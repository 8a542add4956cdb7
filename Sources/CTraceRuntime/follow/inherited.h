// The calls that were open in a thread when somebody attached to its process, as whoever attached found them on its
// stack. The thread takes them up at its first hook.

#ifndef FATHOM_INHERITED_H
#define FATHOM_INHERITED_H

#include "../host/base.h"

struct thread;

// What whoever attaches writes: the number of threads, then of each thread its id, how many calls there are, and of
// each call, outermost first, the function, the call site, and the stack pointer of the function's callers' frame's
// end. The id becomes 0 when the thread has taken them up.
extern uint64_t *fathom_inherited;

// Whether there are calls that the calling thread has not taken up.
int inherited_waits(void);
// Opens them on the thread's running lane, as far as their frames are not below `stack_pointer`. Returns how many there
// are.
uint32_t inherited_open(struct thread *t, uintptr_t stack_pointer);

#endif
