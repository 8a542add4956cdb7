// These functions decide which calls the options leave out, and keep what is known of those. They know nothing of
// records. They need a thread that has room beside its frames, except where they say otherwise.

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
    uint64_t taken;          // what the mode needs to take the record back; FILTER_PIECE: the call is a task's piece
};
#define FILTER_PIECE UINT64_MAX
_Static_assert(sizeof(struct filter_frame) == BESIDE_SIZE, "the filter's frames lie as far apart as the frames");

INTERNAL struct filter_frame *filter_of(const struct thread *t, struct frame *call) {
    return (struct filter_frame *)((char *)call + t->beside);
}

// Whether the options leave out the next call because it is too deep.
int filter_hides_next(struct thread *t);
// Adds the calls that were hidden since the last time to what was left out of their caller. Any thread may call it.
void filter_own_hidden(struct thread *t);
void filter_begin_piece(struct thread *t);                   // the innermost call is a piece of a task
void filter_end_call(struct thread *t, struct frame *call);  // any, of the running lane
void filter_count_all(struct thread *t);                     // counts what was left out of all open calls
void filter_stop(struct thread *t);                          // recording is stopped
void filter_start(struct thread *t);                         // recording is started
// This is a fork's child: what was left out so far is the parent's to tell. Any thread may call it.
void filter_fork(struct thread *t);

// ---- for hooks too

// The process's count is updated at once, because a thread that still runs when the process ends would have no other
// moment to do it. Relaxed: it is a count, and says nothing about anything else.
INTERNAL void filter_count(uint64_t calls) {
    if (calls) __atomic_fetch_add(&runtime.buffers->left_out_calls, calls, __ATOMIC_RELAXED);
}

// Whether the call, which ends now, is to be left out. Outermost calls stay.
INTERNAL int filter_is_too_short(const struct thread *t, const struct frame *call, uint64_t now) {
    return now - call->enter < t->options.min_cost_ticks && call[-1].function;
}

// Leaves the call out as too short. What was left out of it counts as left out of its caller from then on.
INTERNAL void filter_drop(struct thread *t, struct frame *call, uint64_t now) {
    struct filter_frame *filter = filter_of(t, call), *caller = filter - 1;
    caller->dropped += 1 + filter->dropped;
    caller->dropped_ticks += now - call->enter;
    filter->dropped = filter->dropped_ticks = 0;
}

#endif
