// The calls that were open in a thread when somebody attached to its process, as whoever attached found them on its
// stack. The thread takes them up at its first hook.

#ifndef FATHOM_INHERITED_H
#define FATHOM_INHERITED_H

#include "../host/base.h"

struct thread;

// Whoever attaches writes the number of threads. For each thread follow its id, the number of its calls and, outermost
// first, three words for each call: the function, the call site, and the place of the call's frame on the stack, which
// is the end of the frame less the 16 bytes that a call takes there. The id becomes 0 when the thread has taken its
// calls up. Behind all threads stand two numbers of addresses, and these: where threads are that can be made to go on
// elsewhere, and where others are, or will be when a handler of a signal returns.
// That goes into a room of `size` bytes; NULL: there is no memory. No hook comes here meanwhile.
uint64_t *inherited_room(size_t size);
void inherited_forget(void);
// These addresses, how many there are, and how many of them are of the first kind; NULL: there are none.
uint64_t *inherited_addresses(size_t *threads, size_t *count);

// Where these calls' stack is, as far as it is in use: `stack_pointer`, or an address on the stack that a handler has
// left, which runs on another one.
uintptr_t inherited_stack(uint32_t id, uintptr_t stack_pointer);
// Whether there are calls that the calling thread has not taken up.
int inherited_waits(void);
// Opens them on the thread's running lane, as far as their frames are not below `stack_pointer`. Returns how many there
// are.
uint32_t inherited_open(struct thread *t, uintptr_t stack_pointer);

#endif
