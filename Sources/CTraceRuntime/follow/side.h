// Events of a signal handler that interrupted a hook, kept until that one is through.

#ifndef FATHOM_SIDE_H
#define FATHOM_SIDE_H

#include "thread.h"

struct side_event {
    uint64_t ticks;
    struct event event;  // HOOK_NONE: not there yet, or no more
};
#define SIDE_LIMIT 1024u

void side_append(struct thread *t, const struct event *event);
// Makes the thread idle again and follows what handlers left until nothing is left.
void side_drain(struct thread *t);
// Follows one event. The thread is busy, and attached but where a handler that interrupted its hook has forked.
void side_follow(struct thread *t, const struct event *event, uint64_t now);
// The handler that interrupted a hook never returns to it (siglongjmp): make the thread usable again.
void side_abandon(struct thread *t);
// What the calling thread has told so far is to be complete, for the process may end; not if it is in a hook.
void side_give_back(struct thread *t);

#endif
