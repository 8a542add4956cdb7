// What notes do before and after they tell of something.

#ifndef FATHOM_BUSY_H
#define FATHOM_BUSY_H

#include "../follow/pause.h"
#include "../follow/side.h"
#include "../follow/thread.h"
#include "../host/runtime.h"

// The calling thread, made busy. NULL if it records nothing, or if it is busy already: then this is a handler that
// interrupted a hook.
INTERNAL struct thread *begin_note(void) {
    struct thread *t = &current;
    if (t->state != THREAD_ATTACHED || !is_free(t) || control_mode() == MODE_UNKNOWN || control_mode() == MODE_OFF)
        return NULL;
    t->idle = 0;
    t->hook_sp = (uintptr_t)__builtin_frame_address(0);
    BARRIER();
    pause_settle(t, NULL);
    thread_expect_valid(t);
    return t;
}

INTERNAL void end_note(struct thread *t) {
    BARRIER();
    thread_expect_valid(t);
    side_drain(t);
}

#endif
