// Every call is recorded, and times are read from the CPU's counter. This file has the fast path and what the slow
// paths tell.

#include "trace.h"

#include "../file/modules.h"
#include "../follow/aside.h"
#include "../host/runtime.h"
#include "../record/chunk.h"
#include "../record/put.h"
#include "../swift/tasks.h"
#include "hooks.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

static void settle(struct thread *t, const struct event *event) {
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
        if (runtime.modules_stale) modules_scan();
    }
    w->retry = t->hidden_calls = 0;
    w->pending = t->top + 1;
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

static void told_enter(struct thread *t, int has_room, uintptr_t context, uint64_t now) {
    if (has_room) {
        if (task_piece_begins(t->top - 1, t->top)) task_put(t, context);
        put_enter(t, t->top, now);
    }
    chunk_publish(t);
}

static int before_exit(struct thread *t, uint64_t *now) { return put_room(t, now); }

static void told_exit(struct thread *t, int has_room, uint64_t now) {
    if (has_room) put_exit(t, now);
    chunk_publish(t);
}

static int before_unwind(struct thread *t, uint32_t *count, uint64_t *now) {
    (void)count;
    return put_room(t, now);
}

static void told_unwind(struct thread *t, int has_room, uint32_t count, uint64_t now) {
    if (has_room) put_unwind(t, count, now);
    chunk_publish(t);
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

void trace_moment(struct thread *t, enum hook hook, uint32_t name, uint64_t value, uint64_t now) {
    if (!put_room(t, &now)) return;
    if (hook == HOOK_MARK) put_mark(t, name, now);
    else put_counter(t, name, value, now);
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

const struct mode trace_mode = {
    .settle = settle,
    .begin = trace_begins,
    .end = trace_ends,
    .fork = chunk_forget,
    .before_enter = trace_before_enter,
    .enter = told_enter,
    .before_exit = before_exit,
    .exit = told_exit,
    .before_unwind = before_unwind,
    .unwind = told_unwind,
    .before_lane = trace_before_lane,
    .lane = trace_lane,
    .moment = trace_moment,
    .lost = trace_lost,
#ifdef FATHOM_VALID
    .is_valid = chunk_is_valid,
#endif
};

// ---- hooks

void trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    if (UNLIKELY(!is_free(t))) return aside_enter(function, call_site, sp, context);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    uint32_t site = fathom_site_field(call_site, top->function, top->call_site);
    if (UNLIKELY(site == FATHOM_SITE_FAR || delta >= FATHOM_DELTA_LIMIT || function >> 32 != w->function_base ||
                 w->cursor >= w->limit || top + 1 >= t->end || !lies_below(t, sp, top)))
        return hook_slow(function, call_site, sp, context, now, HOOK_ENTER);
    char *cursor = fathom_put_enter(w->cursor, function, delta, site);
    top[1] = (struct frame){function, call_site, sp, now};
    t->top = top + 1;
    t->last = now;
    w->calls++;
    w->cursor = cursor;
    fathom_store32(&w->chunk->used, (uint32_t)(cursor - (char *)(w->chunk + 1)));
    BARRIER();
    t->idle = IDLE;
    BARRIER();
    if (UNLIKELY(t->side_count)) hook_interrupted();
}

// `is_any` is a constant: the hook does not say what its function is, and `function` is ANY_FUNCTION.
INTERNAL void exit_hook(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    if (UNLIKELY(!is_free(t))) return aside_exit(function, call_site, sp, return_address);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    if (UNLIKELY(delta >= FATHOM_DELTA_LIMIT || (is_any ? !is_function(top) : top->function != function) ||
                 w->cursor >= w->limit || !exit_fits(t, top, sp, return_address == call_site)))
        return hook_slow(function, call_site, sp, 0, now, hook_of_exit(call_site, return_address));
    char *cursor = fathom_put_exit(w->cursor, delta);
    t->top = top - 1;
    t->last = now;
    w->cursor = cursor;
    fathom_store32(&w->chunk->used, (uint32_t)(cursor - (char *)(w->chunk + 1)));
    BARRIER();
    t->idle = IDLE;
    BARRIER();
    if (UNLIKELY(t->side_count)) hook_interrupted();
}

void trace_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    exit_hook(function, call_site, sp, return_address, 0);
}

void trace_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    exit_hook(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1);
}

FATHOM_WITHOUT_HOOKS_END
