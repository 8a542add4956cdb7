// Events of a signal handler that interrupted a hook. They are kept until that hook is through.

#ifndef FATHOM_SIDE_H
#define FATHOM_SIDE_H

#include "thread.h"

struct side_event {
    uint64_t ticks;
    struct event event;  // HOOK_NONE: not there yet, or no more
};
#define SIDE_LIMIT 1024u

void side_append(struct thread *t, const struct event *event);
// Makes the thread idle again, and follows the events that handlers left until none are left.
void side_drain(struct thread *t);
// Follows one event. The thread is busy, and it is attached, unless a handler that interrupted its hook has forked.
void side_follow(struct thread *t, const struct event *event, uint64_t now);
// A handler that interrupted a hook has left it for good (siglongjmp). Makes the thread usable again.
void side_abandon(struct thread *t);
// Completes what the calling thread has told so far, because the process may end. Does nothing if the thread is in a
// hook.
void side_give_back(struct thread *t);

#endif
