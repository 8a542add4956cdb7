// What the options leave out: which calls, and what is known of them. It knows nothing of records. These functions need
// a thread that has room beside its frames, except where they say otherwise.

#ifndef FATHOM_FILTER_H
#define FATHOM_FILTER_H

#include "../follow/thread.h"

// What is beside each frame: what was left out below the call, and what the mode needs to take the call's record back.
// Beside frames that are not in use, `dropped` and `dropped_ticks` are 0. The other fields hold only while the record
// may be taken back.
struct filter_frame {
    uint64_t dropped;        // callees left out
    uint64_t dropped_ticks;  // of those that were too short; the time of those too deep is not known
    uint64_t last;           // thread.last before its ENTER; of a piece of a task: what `pieces` was before it
    uint64_t taken;          // the mode's word on the record; or FILTER_PIECE
};
#define FILTER_PIECE UINT64_MAX
_Static_assert(sizeof(struct filter_frame) == BESIDE_SIZE, "one is as far from the other as the frames are");

INTERNAL struct filter_frame *filter_of(const struct thread *t, struct frame *call) {
    return (struct filter_frame *)((char *)call + t->beside);
}

// Whether the options leave out the next call because it is too deep.
int filter_hides_next(struct thread *t);
// Counts the hidden calls since the last time with the call that they were left out of. Any thread may call it.
void filter_own_hidden(struct thread *t);
void filter_begin_piece(struct thread *t);                   // the innermost call is a piece of a task
void filter_end_call(struct thread *t, struct frame *call);  // any, of the running lane
void filter_count_all(struct thread *t);                     // counts what was left out of all open calls
void filter_stop(struct thread *t);                          // recording is stopped
void filter_start(struct thread *t);                         // recording is started
// This is a fork's child: what was left out so far is the parent's to tell. Any thread may call it.
void filter_fork(struct thread *t);

// ---- for hooks too

// The process's count is kept up at once, because a thread that is still there when the process ends has no later
// moment for it. Relaxed: it is a count, and says nothing about anything else.
INTERNAL void filter_count(uint64_t calls) {
    if (calls) __atomic_fetch_add(&runtime.buffers->left_out_calls, calls, __ATOMIC_RELAXED);
}

// Whether the call, which ends now, is to be left out. Outermost calls stay.
INTERNAL int filter_is_too_short(const struct thread *t, const struct frame *call, uint64_t now) {
    return now - call->enter < t->options.min_cost_ticks && call[-1].function;
}

// The call is left out as too short, and what was left out of it goes with it.
INTERNAL void filter_drop(struct thread *t, struct frame *call, uint64_t now) {
    struct filter_frame *filter = filter_of(t, call), *caller = filter - 1;
    caller->dropped += 1 + filter->dropped;
    caller->dropped_ticks += now - call->enter;
    filter->dropped = filter->dropped_ticks = 0;
}

#endif
