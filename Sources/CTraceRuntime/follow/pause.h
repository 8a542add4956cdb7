// Stopping and starting, for one thread.

#ifndef FATHOM_PAUSE_H
#define FATHOM_PAUSE_H

#include "event.h"
#include "thread.h"

// Makes the thread stop, start or change its options if the process has done so meanwhile, before an event is followed,
// or NULL. The thread is busy.
void pause_settle(struct thread *t, const struct event *event);
// Takes over the options of the process, for a thread that has no frames yet.
void pause_begin(struct thread *t);

#endif
