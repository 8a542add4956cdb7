// Appends records to the chunk: the bytes are those of CTraceRecords.h, for the calls of the running lane.

#include "put.h"

#include "away.h"
#include "chunk.h"

FATHOM_WITHOUT_HOOKS

int put_room(struct thread *t, uint64_t *now) {
    struct writer *w = writer_of(t);
    // A change of chunks moves the last record's time, so this comes first.
    uint64_t away = UNLIKELY(away_is_asked_for()) ? away_look(t, *now) : 0;
    if (w->cursor >= w->limit && !chunk_make_room(t)) return 0;
    if (*now < t->last) *now = t->last;
    if (LIKELY(!away)) return 1;
    struct told told = told_of(FATHOM_AWAY, &away, sizeof away, 0);
    put_told(t, &told, *now);
    chunk_publish(t);
    if (w->cursor >= w->limit && !chunk_make_room(t)) return 0;
    if (*now < t->last) *now = t->last;
    return 1;
}

int put_more_room(struct thread *t, size_t size, uint64_t *now) {
    struct writer *w = writer_of(t);
    const char *limit = writer_end(w);
    if (w->cursor < limit && size <= (size_t)(limit - w->cursor)) return 1;
    if (w->chunk) chunk_finish(t, *now);
    return put_room(t, now);
}

int put_room_for(struct thread *t, size_t size, uint64_t *now) {
    if (put_more_room(t, size, now)) return 1;
    chunk_lose_call(t);
    return 0;
}

static uint64_t take_delta(struct thread *t, uint64_t now) {
    uint64_t delta = now - t->last;
    t->last = now;
    return delta;
}

static void move_on(struct thread *t, uint64_t now) {
    struct writer *w = writer_of(t);
    if (now != t->last) w->cursor = fathom_put_time(w->cursor, take_delta(t, now));
}

void put_enter(struct thread *t, const struct frame *call, uint64_t now) {
    struct writer *w = writer_of(t);
    const struct frame *caller = call - 1;
    uint32_t site = fathom_site_field(call->call_site, caller->function, caller->call_site);
    // Readers know only callers with a record.
    if (caller->stack_pointer & FRAME_HIDDEN) site = FATHOM_SITE_FAR;
    w->cursor =
        fathom_put_call(w->cursor, call->function, call->call_site, site, take_delta(t, now), &w->function_base);
    w->calls++;
}

void put_exit(struct thread *t, uint64_t now) {
    struct writer *w = writer_of(t);
    uint64_t delta = take_delta(t, now);
    w->cursor = fathom_put_delta(w->cursor, &delta);
    w->cursor = fathom_put_exit(w->cursor, delta);
}

void put_unwind(struct thread *t, uint32_t count, uint64_t now) {
    struct writer *w = writer_of(t);
    move_on(t, now);
    w->cursor = fathom_put_unwind(w->cursor, count);
}

void put_lane(struct thread *t) {
    struct writer *w = writer_of(t);
    w->cursor = fathom_put_lane(w->cursor, running_lane(t)->id, recorded_calls(t));
}

// Copies as much as there can be, which takes three stores. What is too much lies where the next record goes.
void put_told(struct thread *t, const struct told *told, uint64_t now) {
    struct writer *w = writer_of(t);
    move_on(t, now);
    char *payload = fathom_put_head(w->cursor, told->record, told->size);
    fathom_put(payload, told->payload, sizeof told->payload);
    w->cursor = payload + told->size;
}

void put_task(struct thread *t, const struct fathom_task *task) {
    struct writer *w = writer_of(t);
    w->chunk->flags |= FATHOM_FLAG_TASKS;
    w->cursor = fathom_put_task(w->cursor, task);
}

FATHOM_WITHOUT_HOOKS_END
