// Stops and starts recording for one thread, which itself runs on.

#ifndef FATHOM_PAUSE_H
#define FATHOM_PAUSE_H

#include "event.h"
#include "thread.h"

// Makes the thread stop or start recording, or change its options, if the process has done so since the thread's last
// call of this. Call it before an event is followed, with that event, or with NULL. The thread must be busy.
void pause_settle(struct thread *t, const struct event *event);
// The thread cannot know which of its calls are open since recording was last stopped: if it has missed that, makes it
// stop. The thread must be busy.
void pause_catch_up(struct thread *t);
// Gives the options of the process to a thread that has no frames yet.
void pause_begin(struct thread *t);

#endif
