// What calls by sleds may cost.

#ifndef FATHOM_BUDGET_H
#define FATHOM_BUDGET_H

#include "../follow/thread.h"

// A thread's chunk is full of records of calls. Where recording them took more of the thread's processor time than is
// asked for, the sleds are closed of the functions that were called most. `processor_ns` is that time until now. The
// thread is busy, and its signals are blocked. It may be about to note a call that has begun, so no ends are closed
// here.
void budget_look(const struct fathom_chunk *chunk, uint64_t processor_ns);
// Ends of closed functions pass, which cost time as well. Closes their sleds where no call of them is open any more.
// Any thread may call it that is in no other hook; `hook_sp` is what its thread.hook_sp is to be.
void budget_look_at_ends(struct thread *t, uintptr_t hook_sp);

#endif
