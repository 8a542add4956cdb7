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

// Threads whose ends nothing tells. The C library tells of a thread's end where the thread has a value for one of the
// first 32 keys of thread-specific data. Setting the value of a later key allocates memory, which a hook must not do: a
// signal handler may have interrupted the allocator. A program that is attached to may have 32 keys of its own. So its
// threads are listed, and each that begins looks which of the others are gone. Nobody can look at what a thread that is
// gone had in its own memory, but the session's buffers have its records.

#define KEYS_WITH_ROOM 32u  // PTHREAD_KEY_2NDLEVEL_SIZE in glibc

// Lists the calling thread, which is attaching and has its number. 0 when there are too many already: it cannot attach.
int untold_join(struct thread *t);
// The thread is no more attached, and has given its memory back itself.
void untold_leave(struct thread *t);
// Gives back what threads that are gone had: their memory, and their slots in the buffers.
void untold_sweep(void);
void untold_forget(void);  // in a fork's child, and when the session is left

#endif
