// Appends records to the chunk: the bytes are those of CTraceRecords.h, for the calls of the running lane.

#include "put.h"

#include "CTraceRecords.h"
#include "chunk.h"

FATHOM_WITHOUT_HOOKS

int put_room(struct thread *t, uint64_t *now) {
    if (t->cursor >= t->limit && !chunk_make_room(t)) return 0;
    if (*now < t->last) *now = t->last;
    return 1;
}

static uint64_t take_delta(struct thread *t, uint64_t now) {
    uint64_t delta = now - t->last;
    t->last = now;
    return delta;
}

static void move_on(struct thread *t, uint64_t now) {
    if (now != t->last) t->cursor = fathom_put_time(t->cursor, take_delta(t, now));
}

void put_enter(struct thread *t, uint64_t now) {
    const struct frame *call = t->top, *caller = call - 1;
    uint32_t site = fathom_site_field(call->call_site, caller->function, caller->call_site);
    t->cursor = fathom_put_call(t->cursor, call->function, call->call_site, site, take_delta(t, now),
                                &t->function_base);
    t->calls++;
}

void put_exit(struct thread *t, uint64_t now) {
    uint64_t delta = take_delta(t, now);
    t->cursor = fathom_put_delta(t->cursor, &delta);
    t->cursor = fathom_put_exit(t->cursor, delta);
}

void put_unwind(struct thread *t, uint32_t count, uint64_t now) {
    move_on(t, now);
    t->cursor = fathom_put_unwind(t->cursor, count);
}

void put_lane(struct thread *t) { t->cursor = fathom_put_lane(t->cursor, running_lane(t)->id, recorded_calls(t)); }

void put_mark(struct thread *t, uint32_t name, uint64_t now) {
    move_on(t, now);
    t->cursor = fathom_put_mark(t->cursor, name);
}

void put_counter(struct thread *t, uint32_t name, uint64_t bits, uint64_t now) {
    move_on(t, now);
    t->cursor = fathom_put_counter(t->cursor, name, bits);
}

void put_task(struct thread *t, const struct fathom_task *task) {
    t->chunk->flags |= FATHOM_FLAG_TASKS;
    t->cursor = fathom_put_task(t->cursor, task);
}

FATHOM_WITHOUT_HOOKS_END
