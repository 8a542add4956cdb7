// Which threads of the process are attached, for whoever wants to know what calls they have open. It is kept only where
// calls may cost no more than a budget, because nobody else asks.

#ifndef FATHOM_ROSTER_H
#define FATHOM_ROSTER_H

#include "thread.h"

// The thread attaches, and detaches. Async-signal-safe; no lock is held.
void roster_add(struct thread *t);
void roster_remove(struct thread *t);

// Calls `see` with the function of each call that is open, on whichever thread; some may have ended meanwhile. Returns
// 0 when that is not known of every thread: one is in a hook, say. `self` is the calling thread, which is busy. One
// thread at a time calls this, with signals blocked, in a process that may make system calls. O(threads + open calls).
int roster_see_open(const struct thread *self, void (*see)(uintptr_t function));

#endif
