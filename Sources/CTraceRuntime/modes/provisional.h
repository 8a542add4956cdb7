// Records that may be taken back, because their calls may prove too short.
//
// Such a record is written, but published only when it is known to stay. So live readers never see anything that is
// taken back, and what a killed process leaves has all of it.

#ifndef FATHOM_PROVISIONAL_H
#define FATHOM_PROVISIONAL_H

#include "../filter/filter.h"
#include "../record/chunk.h"

// Release: whoever reads what a killed process left finds the records below it.
INTERNAL void provisional_store_written(const struct writer *w) {
    __atomic_store_n(&w->chunk->payload_sum, (uint64_t)(w->cursor - (char *)(w->chunk + 1)), __ATOMIC_RELEASE);
}

// The innermost call has just got its record, of `size` bytes with what stands before the ENTER, which is not published
// yet. `last` and `function_base` are the thread's from before it.
INTERNAL void provisional_begin(struct thread *t, uint64_t last, uint64_t function_base, uint32_t size) {
    struct filter_frame *filter = filter_of(t, t->top);
    filter->last = last;
    filter->taken = (uint64_t)size << 32 | (uint32_t)function_base;
    provisional_store_written(writer_of(t));
}

// All that is in the chunk stays. Then `top` is the innermost call.
INTERNAL void provisional_publish(struct writer *w, struct frame *top) {
    fathom_store32(&w->chunk->used, (uint32_t)(w->cursor - (char *)(w->chunk + 1)));
    w->pending = top + 1;
}

// The innermost call ends. Leaves it out, if it is too short, and takes its record back, which is the last one in the
// chunk.
INTERNAL int provisional_leave_out(struct thread *t, struct frame *call, uint64_t now) {
    struct writer *w = writer_of(t);
    struct filter_frame *filter = filter_of(t, call);
    if (call < w->pending || !filter_is_too_short(t, call, now)) return 0;
    filter_drop(t, call, now);
    w->cursor -= filter->taken >> 32;
    t->last = filter->last;
    w->function_base = (uint32_t)filter->taken;
    w->calls--;
    provisional_store_written(w);
    // A caller that is already long enough stays, and so do its callers.
    if (--call >= w->pending && !filter_is_hidden(call) && now - call->enter >= t->min_cost)
        provisional_publish(w, call);
    return 1;
}

// A call without a record has ended, and `top` is the innermost one now.
INTERNAL void provisional_end_hidden(struct writer *w, struct frame *top) {
    if (w->pending > top + 1) w->pending = top + 1;
}

// Writes as many of the calls left out as one record can tell, and takes them out of `filter`.
INTERNAL char *provisional_put_dropped(char *cursor, struct filter_frame *filter) {
    uint32_t calls = filter->dropped < UINT32_MAX ? (uint32_t)filter->dropped : UINT32_MAX;
    cursor = fathom_put_dropped(cursor, calls, filter->dropped_ticks);
    filter->dropped -= calls;
    filter->dropped_ticks = 0;
    return cursor;
}

#endif
