// What the options leave out. These functions need a thread that has filters, except where they say otherwise.

#ifndef FATHOM_FILTER_H
#define FATHOM_FILTER_H

#include "CTraceRecords.h"

#include "../host/runtime.h"
#include "../record/chunk.h"

INTERNAL struct filter_frame *filter_of(const struct thread *t, struct frame *call) {
    return (struct filter_frame *)((char *)call + t->filters);
}
int filter_hides_next(struct thread *t);  // whether the options leave out the next call
// Counts what was left out since the last time with the call that it was left out of.
void filter_own_hidden(struct thread *t);
// The innermost call, which has a record, ends. Returns whether it is too short and so was left out, its record taken
// back.
int filter_leaves_out(struct thread *t, uint64_t now);
// Writes into the chunk what was left out of the innermost call, which has a record.
void filter_tell_dropped(struct thread *t);
void filter_begin_piece(struct thread *t);                       // the innermost call is a piece of a task
void filter_end_call(struct thread *t, struct frame *call);      // any, of the running lane
void filter_tell_all(struct thread *t);  // counts what was left out of all open calls, which may never end
void filter_stop(struct thread *t);      // recording is stopped
void filter_start(struct thread *t);     // recording is started
void filter_fork(struct thread *t);  // a fork's child: what was left out so far is the parent's to tell

// ---- for the hooks of modes that filter, and the above

// The count is kept up at once, because a thread that is still there when the process ends has no later moment for it.
// Relaxed: it is a count, and says nothing about anything else.
INTERNAL void filter_count(uint64_t calls) {
    if (calls) __atomic_fetch_add(&runtime.buffers->left_out_calls, calls, __ATOMIC_RELAXED);
}

// Release: whoever reads what a killed process left finds the records below it.
INTERNAL void filter_store_written(struct thread *t) {
    __atomic_store_n(&t->chunk->payload_sum, (uint64_t)(t->cursor - (char *)(t->chunk + 1)), __ATOMIC_RELEASE);
}

// The innermost call has just got its record, of `size` bytes, which is not published yet. `last` and `function_base`
// are the thread's from before it.
INTERNAL void filter_announce(struct thread *t, uint64_t last, uint64_t function_base, uint32_t size) {
    struct filter_frame *filter = filter_of(t, t->top);
    filter->last = last;
    filter->taken = (uint64_t)size << 32 | (uint32_t)function_base;
    filter_store_written(t);
}

// All that is in the chunk stays. Then `top` is the innermost call.
INTERNAL void filter_publish(struct thread *t, struct frame *top) {
    fathom_store32(&t->chunk->used, (uint32_t)(t->cursor - (char *)(t->chunk + 1)));
    t->pending = top + 1;
}

INTERNAL int filter_is_too_short(const struct thread *t, const struct frame *call, uint64_t now) {
    return call >= t->pending && now - call->enter < t->options.min_cost_ticks && call[-1].function;
}

// The innermost call is too short. Its record, the last one in the chunk, is taken back.
INTERNAL void filter_take_back(struct thread *t, struct frame *call, uint64_t now) {
    struct filter_frame *filter = filter_of(t, call), *caller = filter - 1;
    caller->dropped += 1 + filter->dropped;
    caller->dropped_ticks += now - call->enter;
    filter->dropped = filter->dropped_ticks = 0;
    t->cursor -= filter->taken >> 32;
    t->last = filter->last;
    t->function_base = (uint32_t)filter->taken;
    t->calls--;
    filter_store_written(t);
    // A caller that is already long enough stays, and so do its callers.
    if (--call >= t->pending && now - call->enter >= t->options.min_cost_ticks) filter_publish(t, call);
}

// Writes as many as one record can tell, and takes them out of `filter`.
INTERNAL char *filter_put_dropped(char *cursor, struct filter_frame *filter) {
    uint32_t calls = filter->dropped < UINT32_MAX ? (uint32_t)filter->dropped : UINT32_MAX;
    cursor = fathom_put_dropped(cursor, calls, filter->dropped_ticks);
    filter->dropped -= calls;
    filter->dropped_ticks = 0;
    return cursor;
}

#endif
