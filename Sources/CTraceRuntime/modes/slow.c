// Options leave calls out, or the clock is a system call.

#include "../follow/aside.h"
#include "../follow/calls.h"
#include "../follow/side.h"
#include "../record/put.h"
#include "../swift/tasks.h"
#include "hooks.h"
#include "provisional.h"
#include "trace.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

static int is_hidden(const struct frame *call) { return (call->stack_pointer & FRAME_HIDDEN) != 0; }

static void settle(struct thread *t) {
    if (t->hidden_calls) filter_own_hidden(t);
}

static void begin(struct thread *t, enum begins how) {
    if (how == BEGINS_IN_CHILD) filter_fork(t);
    if (how == BEGINS_RUNNING) filter_start(t);
    trace_begins(t, how);
}

// Writes into the chunk what was left out of the innermost call, which has a record.
static void tell_dropped(struct thread *t) {
    struct writer *w = writer_of(t);
    struct filter_frame *filter = filter_of(t, t->top);
    filter_count(filter->dropped);
    while (filter->dropped && (w->cursor < w->limit || chunk_make_room(t)))
        w->cursor = provisional_put_dropped(w->cursor, filter);
    filter->dropped = filter->dropped_ticks = 0;
}

// Tells what was left out as far as that is possible, and counts the rest: the open calls may never end.
static void tell_all(struct thread *t) {
    if (t->top->function && !is_hidden(t->top)) tell_dropped(t);
    filter_count_all(t);
}

static void end(struct thread *t, enum ends how, uint64_t now) {
    if (how == ENDS_STOPPED) {
        tell_all(t);
        filter_stop(t);
    }
    if (how == ENDS_PROCESS && writer_of(t)->chunk) {
        filter_own_hidden(t);
        tell_all(t);
    }
    trace_ends(t, how, now);
}

static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    // The frames may have been moved, to make room for the call.
    struct writer *w = writer_of(t);
    w->pending = frames_find(running_lane(t), w->pending - 1) + 1;
    if (task_piece_begins(t->top, call) || !filter_hides_next(t)) return trace_before_enter(t, call, now);
    call->stack_pointer |= FRAME_HIDDEN;
    t->hidden_calls++;
    return 0;
}

static void told_enter(struct thread *t, int has_room, uintptr_t context, uint64_t now) {
    struct writer *w = writer_of(t);
    if (is_hidden(t->top)) return;
    int is_piece = task_piece_begins(t->top - 1, t->top);
    uint64_t last = t->last, base = w->function_base;
    char *record = w->cursor;
    if (has_room) {
        if (is_piece) task_put(t, context);
        put_enter(t, now);
    }
    if (has_room && t->options.min_cost_ticks && !is_piece)
        provisional_begin(t, last, base, (uint32_t)(w->cursor - record));
    else chunk_publish(t);
    if (is_piece) filter_begin_piece(t);
}

enum { LEFT_OUT, NO_ROOM, ROOM };

static int before_exit(struct thread *t, uint64_t *now) {
    if (is_hidden(t->top) || provisional_leave_out(t, t->top, *now)) return LEFT_OUT;
    tell_dropped(t);
    return put_room(t, now) ? ROOM : NO_ROOM;
}

static void told_exit(struct thread *t, int answer, uint64_t now) {
    if (answer == ROOM) put_exit(t, now);
    filter_end_call(t, t->top + 1);
    if (answer != LEFT_OUT) chunk_publish(t);
}

// What the options left out below a call is told before the call ends, so only one call ends at a time.
static int before_unwind(struct thread *t, uint32_t *count, uint64_t *now) {
    *count = 1;
    if (is_hidden(t->top)) return LEFT_OUT;
    tell_dropped(t);
    return put_room(t, now) ? ROOM : NO_ROOM;
}

static void told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    if (answer == ROOM) put_unwind(t, count, now);
    filter_end_call(t, t->top + 1);
    if (answer != LEFT_OUT) chunk_publish(t);
}

const struct mode slow_mode = {
    .settle = settle,
    .begin = begin,
    .end = end,
    .fork = chunk_forget,
    .before_enter = before_enter,
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

// The number of calls left out of one call that its exit can tell of without the slow path.
#define DROPPED_LIMIT 65536u

INTERNAL void begin_hook(struct thread *t, uintptr_t sp) {
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
}

INTERNAL void end_hook(struct thread *t, uint64_t idle) {
    BARRIER();
    t->idle = idle;
    BARRIER();
    if (UNLIKELY(t->side_count)) hook_interrupted();
}

// The thread is busy.
static SLOW void enter_slow(uintptr_t function, uintptr_t call_site) {
    hook_slow(function, call_site, current.hook_sp, 0, now_ticks(), HOOK_ENTER);
}
static SLOW void exit_slow(void) {
    struct thread *t = &current;
    if (t->hidden_calls) filter_own_hidden(t);
    calls_end_top(t, now_ticks());
    BARRIER();
    side_drain(t);
}

void slow_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t settled) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    uint64_t idle = t->idle;
    begin_hook(t, sp);
    if (UNLIKELY(t->timed != settled || t->side_count)) return enter_slow(function, call_site);
    uint64_t now = fathom_counter(), last = t->last, delta = now - last;
    struct frame *top = t->top;
    uint32_t site = fathom_site_field(call_site, top->function, top->call_site);
    char *record = w->cursor;
    if (UNLIKELY(site == FATHOM_SITE_FAR || function >> 32 != w->function_base || record >= w->limit ||
                 delta > FATHOM_TIME_LIMIT))
        return enter_slow(function, call_site);
    char *cursor = fathom_put_enter(fathom_put_delta(record, &delta), function, delta, site);
    top[1] = (struct frame){function, call_site, t->hook_sp, now};
    t->top = top + 1;
    t->last = now;
    w->calls++;
    w->cursor = cursor;
    if (t->options.min_cost_ticks) provisional_begin(t, last, w->function_base, (uint32_t)(cursor - record));
    else provisional_publish(w, top + 1);
    end_hook(t, idle);
}

void slow_exit(uintptr_t sp, uint64_t settled) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    uint64_t idle = t->idle;
    begin_hook(t, sp);
    if (UNLIKELY(t->timed != settled || t->side_count)) return exit_slow();
    uint64_t now = fathom_counter();
    struct frame *call = t->top;
    struct filter_frame *filter = filter_of(t, call);
    if (t->hidden_calls) {
        filter->dropped += t->hidden_calls;
        t->hidden_calls = 0;
    }
    if (provisional_leave_out(t, call, now)) {
        t->top = call - 1;
        return end_hook(t, idle);
    }
    uint64_t delta = now - t->last;
    if (UNLIKELY(filter->taken == FILTER_PIECE || w->cursor >= w->limit || delta > FATHOM_TIME_LIMIT ||
                 filter->dropped >= DROPPED_LIMIT))
        return exit_slow();
    char *cursor = w->cursor;
    t->top = call - 1;
    BARRIER();
    if (filter->dropped) {
        filter_count(filter->dropped);
        cursor = provisional_put_dropped(cursor, filter);
    }
    cursor = fathom_put_delta(cursor, &delta);
    w->cursor = fathom_put_exit(cursor, delta);
    t->last = now;
    provisional_publish(w, call - 1);
    end_hook(t, idle);
}

FATHOM_WITHOUT_HOOKS_END
