// Stopping and starting, for one thread.

#ifndef FATHOM_PAUSE_H
#define FATHOM_PAUSE_H

#include "thread.h"

// Finds out whether recording was stopped or started. The thread is busy.
void pause_settle(struct thread *t);
// Takes over the options of the process; those of a thread without frames.
void pause_take_options(struct thread *t);

#endif
