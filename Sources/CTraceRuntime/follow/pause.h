// Stops and starts recording, for one thread. The thread itself runs on.

#ifndef FATHOM_PAUSE_H
#define FATHOM_PAUSE_H

#include "event.h"
#include "thread.h"

// If the process has stopped or started recording meanwhile, or has changed its options, makes the thread do so, too.
// Call it before an event is followed, with that event, or with NULL. The thread is busy.
void pause_settle(struct thread *t, const struct event *event);
// Takes over the options of the process, for a thread that has no frames yet.
void pause_begin(struct thread *t);

#endif
