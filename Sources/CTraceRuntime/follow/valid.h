// Whether what is known of a thread can be. Asked at every slow path, at notes, and where a thread ends or forgets its
// calls, of a library that is built with FATHOM_VALID defined, which tests do: it ends the program where something
// cannot.

#ifndef FATHOM_VALID_H
#define FATHOM_VALID_H

#include "thread.h"

#ifdef FATHOM_VALID
int thread_is_valid(struct thread *t);
// Ends the program if the thread's state is not valid.
void thread_expect_valid(struct thread *t);
#else
INTERNAL void thread_expect_valid(struct thread *t) { (void)t; }
#endif

#endif
