// Looks into files without an effect on the process. Opening and closing a file is one: a record lock (fcntl) of the
// process on that file is gone with the first descriptor of it that the process closes.

#ifndef FATHOM_APART_H
#define FATHOM_APART_H

// Calls `look` in a child that has this process's memory, and descriptors of its own, while the calling thread waits. 0
// when there can be no child. `look` makes system calls, and uses little of a stack of APART_STACK bytes, which lies on
// the caller's. No wait of the program's finds the child. Async-signal-safe; a child of vfork may call it, too.
#define APART_STACK 6144
int apart_call(void (*look)(void *), void *argument);
// The same on a stack of the caller's, which ends at `stack`.
int apart_call_on(void *stack, void (*look)(void *), void *argument);

#endif
