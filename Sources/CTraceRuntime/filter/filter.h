// What the options leave out. The thread has filters, unless it is said.

#ifndef FATHOM_FILTER_H
#define FATHOM_FILTER_H

#include "../follow/thread.h"

INTERNAL struct filter_frame *filter_of(const struct thread *t, struct frame *call) {
    return (struct filter_frame *)((char *)call + t->filters);
}
// Makes the hooks of MODE_SLOW and MODE_PAUSED fit what the thread knows. Returns what `idle` is to be.
uint64_t filter_settle(struct thread *t);
int filter_hides_next(struct thread *t);  // whether the options leave out the next call
// Gives what was left out since the last time to the call that it was left out of.
void filter_own_hidden(struct thread *t);
// The innermost call has just got its record, of `size` bytes, which nobody knows of yet, at another time and base.
void filter_announce(struct thread *t, uint64_t last, uint64_t function_base, uint32_t size);
// The innermost call, which is recorded, ends: whether it is too short, and so was left out, its record taken back.
int filter_leaves_out(struct thread *t, uint64_t now);
// Puts into the chunk what was left out of the innermost call, which is recorded.
void filter_tell_dropped(struct thread *t);
void filter_begin_piece(struct thread *t);                       // the innermost call is a piece of a task
void filter_end_call(struct thread *t, struct frame *call);      // any, of the running lane
void filter_tell_all(struct thread *t);  // counts what was left out of all open calls, which may never end
void filter_stop(struct thread *t);      // recording is stopped
void filter_start(struct lane *lane, struct frame *call, uint32_t max_depth);  // the call is open when it is started
void filter_fork(struct thread *t);  // a fork's child: what was left out so far is the parent's to tell

#endif
