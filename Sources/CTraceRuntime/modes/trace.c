// Every call is recorded, and times are read from the CPU's counter. This file has the fast path and what the slow
// paths tell.

#include "trace.h"

#include "../host/runtime.h"
#include "../record/away.h"
#include "../record/chunk.h"
#include "../record/put.h"
#include "../session/modules.h"
#include "../swift/tasks.h"
#include "hooks.h"
#include "straight.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

void trace_settle(struct thread *t, const struct event *event) {
    (void)event;
    t->hidden_calls = 0;
}

void trace_begins(struct thread *t, enum begins how) {
    struct writer *w = writer_of(t);
    switch (how) {
    case BEGINS_THREAD:
    case BEGINS_IN_CHILD:
        w->sequence = 0;
        w->finished = 0;
        // fall through
    case BEGINS_AGAIN:
        w->chunk = NULL;
        w->cursor = w->limit = w->wanted_limit = NULL;
        w->lost = w->orphans = 0;
        break;
    case BEGINS_RUNNING:
        // Calls that were entered meanwhile have no record, and there is no chunk to take one from.
        if (!w->gap) w->gap = GAP_PATH;
        if (runtime.modules_stale) modules_scan(LOADER_NOW);
    }
    w->retry = t->hidden_calls = 0;
    w->pending = t->top + 1;
    if (away_is_asked_for()) away_begin(t);
}

void trace_ends(struct thread *t, enum ends how, uint64_t now) {
    struct writer *w = writer_of(t);
    if (w->chunk && how == ENDS_STOPPED) w->chunk->flags |= FATHOM_FLAG_STOPPED;
    if (w->chunk && how == ENDS_THREAD) w->chunk->flags |= FATHOM_FLAG_LAST;
    if (w->chunk) chunk_finish(t, now);
    // The last record may tell of something that did not happen, or something that happened may have no record. A new
    // chunk settles that, because it starts from the calls.
    if (how != ENDS_ABANDONED) return;
    w->pending = t->top + 1;
    if (!w->gap) w->gap = GAP_PATH;
}

int trace_before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    (void)call;
    if (put_room(t, now)) return 1;
    if (t->state != THREAD_INTERRUPTED) chunk_lose_call(t);  // else the call is the parent's, who records it
    return 0;
}

void trace_told_enter(struct thread *t, int has_room, const struct event *event, uint64_t now) {
    if (has_room) {
        if (task_piece_begins(t->top - 1, t->top)) task_put(t, event->call.context);
        put_enter(t, t->top, now);
    }
    chunk_publish(t);
}

int trace_before_exit(struct thread *t, uint64_t *now) { return put_room(t, now); }

void trace_told_exit(struct thread *t, int has_room, uint64_t now) {
    if (has_room) put_exit(t, now);
    chunk_publish(t);
    long_call_look(t, t->top + 1, now);
}

int trace_before_unwind(struct thread *t, uint32_t *count, uint64_t *now) {
    (void)count;
    return put_room(t, now);
}

void trace_told_unwind(struct thread *t, int has_room, uint32_t count, uint64_t now) {
    if (has_room) put_unwind(t, count, now);
    chunk_publish(t);
    long_calls_look(t, t->top + 1, count, now);
}

void trace_before_lane(struct thread *t) {
    uint64_t now = t->last;
    put_room(t, &now);
}

void trace_lane(struct thread *t) {
    struct writer *w = writer_of(t);
    w->pending = t->top + 1;
    if (running_lane(t)->is_stale) {
        // Only a chunk's path can tell what is open there.
        if (w->chunk) chunk_finish(t, t->last);
        if (!w->gap) w->gap = GAP_PATH;
        return;
    }
    uint64_t now = t->last;
    if (!put_room(t, &now)) return;
    put_lane(t);
    chunk_publish(t);
}

// The loader allocates memory before the modules that it loads can be seen. It is the next call that is to look at
// them, and not what happens here.
static int has_room_for_memory(struct thread *t, uint64_t *now) {
    struct writer *w = writer_of(t);
    if (w->wanted_limit && w->cursor < w->wanted_limit) {
        if (*now < t->last) *now = t->last;
        return 1;
    }
    uint32_t is_stale = runtime.modules_stale;
    int has_room = put_room(t, now);
    if (is_stale) {
        runtime.modules_stale = 1;
        chunk_look_at_modules(t, 1);
    }
    return has_room;
}

void trace_tell(struct thread *t, const struct told *told, uint64_t now) {
    if (!(told->terms & TOLD_OF_MEMORY ? has_room_for_memory(t, &now) : put_room(t, &now))) return;
    put_told(t, told, now);
    chunk_publish(t);
}

void trace_lost(struct thread *t, enum hook hook) {
    struct writer *w = writer_of(t);
    if (hook == HOOK_ENTER) {
        chunk_lose_call(t);
    } else if (!t->paused) {
        w->orphans++;
        if (w->chunk) w->chunk->orphan_exits++;
    }
}

const struct mode trace_mode = {TRACE_TABLE};

// ---- hooks

void trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    straight_enter(function, call_site, sp, context);
}

void trace_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    straight_exit(function, call_site, sp, return_address, 0, 0);
}

void trace_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    straight_exit(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1, 0);
}

FATHOM_WITHOUT_HOOKS_END
