// Options that leave calls out while recording: a maximum depth, a minimum cost. What is left out is counted in the
// innermost caller that is kept, with its time where that was measured: calls that are too deep are not timed.
//
// A call that may prove too short has its record written, but published only when it is known to stay: live readers
// never see what is taken back, and what a process leaves when it is killed has it all.

#include "filter.h"

#include "../entry/hooks.h"
#include "../entry/side.h"
#include "../file/chunk.h"
#include "../host/runtime.h"
#include "../modes/trace.h"
#include "../swift/tasks.h"

FATHOM_WITHOUT_HOOKS

// Calls left out of one call that its exit tells of without the slow path.
#define DROPPED_LIMIT 65536u

uint64_t filter_settle(struct thread *t) {
    t->settled++;
    t->timed = runtime.clock == FATHOM_CLOCK_COUNTER ? t->settled : 0;
    if (!t->lanes) return IDLE;
    struct lane *lane = running_lane(t);
    uint64_t first = 1 + (uint64_t)lane->pieces + t->max_depth;  // call that is too deep
    t->hidden_from = first < (uint64_t)(lane->end - lane->frames) ? lane->frames + first : lane->end;
    if (lane->filters) t->filters = (char *)lane->filters - (char *)lane->frames;
    if (t->state != THREAD_ATTACHED || t->overflow) return IDLE;
    if (t->paused == PAUSED_STOPPED) return control_word(MODE_PAUSED, t->generation);
    return !t->paused && t->slow ? control_word(MODE_SLOW, t->generation) : IDLE;
}

int filter_hides_next(struct thread *t) { return open_calls(t) - running_lane(t)->pieces >= t->max_depth; }

void filter_own_hidden(struct thread *t) {
    struct frame *owner = t->top < t->hidden_from ? t->top : t->hidden_from - 1;
    if (t->slow && !t->paused) filter_of(t, owner)->dropped += t->hidden_calls;
    t->hidden_calls = 0;
}

// At once: a thread that is still there when the process ends has no moment to do it later.
static void count(uint64_t calls) {
    if (calls) __atomic_fetch_add(&runtime.buffers->left_out_calls, calls, __ATOMIC_RELAXED);
}

// ---- records that may be taken back ------------------------------------------------------------------------------

INTERNAL void store_written(struct thread *t) {
    __atomic_store_n(&t->chunk->payload_sum, (uint64_t)(t->cursor - (char *)(t->chunk + 1)), __ATOMIC_RELEASE);
}

void filter_announce(struct thread *t, uint64_t last, uint64_t function_base, uint32_t size) {
    struct filter_frame *filter = filter_of(t, t->top);
    filter->last = last;
    filter->taken = (uint64_t)size << 32 | (uint32_t)function_base;
    store_written(t);
}

// All that is in the chunk stays; `top` is the innermost call then.
INTERNAL void publish(struct thread *t, struct frame *top) {
    fathom_store32(&t->chunk->used, (uint32_t)(t->cursor - (char *)(t->chunk + 1)));
    t->pending = top + 1;
}

INTERNAL int is_too_short(const struct thread *t, const struct frame *call, uint64_t now) {
    return call >= t->pending && now - call->enter < t->min_cost_ticks && call[-1].function;
}

// The innermost call is too short: its record is the last in the chunk.
INTERNAL void take_back(struct thread *t, struct frame *call, uint64_t now) {
    struct filter_frame *filter = filter_of(t, call), *caller = filter - 1;
    caller->dropped += 1 + filter->dropped;
    caller->dropped_ticks += now - call->enter;
    filter->dropped = filter->dropped_ticks = 0;
    t->cursor -= filter->taken >> 32;
    t->last = filter->last;
    t->function_base = (uint32_t)filter->taken;
    t->calls--;
    store_written(t);
    // A caller that is long enough by now stays, and so do its callers.
    if (--call >= t->pending && now - call->enter >= t->min_cost_ticks) publish(t, call);
}

int filter_leaves_out(struct thread *t, uint64_t now) {
    if (!is_too_short(t, t->top, now)) return 0;
    take_back(t, t->top, now);
    return 1;
}

// As many as one record can tell; takes them out of `filter`.
INTERNAL char *put_dropped(char *cursor, struct filter_frame *filter) {
    struct {
        uint16_t unit;
        uint32_t calls;
        uint64_t ticks;
    } __attribute__((packed)) record = {
        FATHOM_DROPPED << 1, filter->dropped < UINT32_MAX ? (uint32_t)filter->dropped : UINT32_MAX,
        filter->dropped_ticks};
    __builtin_memcpy(cursor, &record, sizeof record);
    filter->dropped -= record.calls;
    filter->dropped_ticks = 0;
    return cursor + sizeof record;
}

void filter_tell_dropped(struct thread *t) {
    struct filter_frame *filter = filter_of(t, t->top);
    if (filter->dropped) count(filter->dropped);
    while (filter->dropped && (t->cursor < t->limit || chunk_make_room(t))) t->cursor = put_dropped(t->cursor, filter);
    filter->dropped = filter->dropped_ticks = 0;
}

void filter_begin_piece(struct thread *t) {
    struct lane *lane = running_lane(t);
    struct filter_frame *filter = filter_of(t, t->top);
    filter->last = lane->pieces;
    filter->taken = FILTER_PIECE;
    lane->pieces = open_calls(t) - 1;
    filter_settle(t);
}

void filter_end_call(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call);
    filter->dropped = filter->dropped_ticks = 0;
    if (filter->taken != FILTER_PIECE) return;
    filter->taken = 0;
    running_lane(t)->pieces = (uint32_t)filter->last;
    filter_settle(t);
}

void filter_tell_all(struct thread *t) {
    if (t->top->function && !(t->top->stack_pointer & FRAME_HIDDEN)) filter_tell_dropped(t);
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct frame *top = lane == running_lane(t) ? t->top : lane->top;
        for (struct filter_frame *f = lane->filters; f <= lane->filters + (top - lane->frames); f++) {
            count(f->dropped);
            f->dropped = f->dropped_ticks = 0;
        }
    }
}

void filter_stop(struct thread *t) {
    filter_tell_all(t);
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct frame *top = lane == running_lane(t) ? t->top : lane->top;
        for (struct filter_frame *f = lane->filters; f <= lane->filters + (top - lane->frames); f++) f->taken = 0;
        lane->pieces = 0;
    }
}

void filter_start(struct lane *lane, struct frame *call, uint32_t max_depth) {
    if (call - lane->frames > max_depth) call->stack_pointer |= FRAME_HIDDEN;
}

void filter_fork(struct thread *t) {
    t->hidden_calls = 0;
    for (struct lane *lane = t->lanes; t->slow && lane < t->lanes + t->lane_count; lane++) {
        struct frame *top = lane == running_lane(t) ? t->top : lane->top;
        for (struct filter_frame *f = lane->filters; f <= lane->filters + (top - lane->frames); f++)
            f->dropped = f->dropped_ticks = 0;
    }
}

// ---- the hooks of MODE_SLOW and MODE_PAUSED ----------------------------------------------------------------------
//
// Most of their calls leave no record, and only have to be known: a frame is pushed, or popped. That is done by one
// store, of `top`, and so does not make the thread busy: a handler's hooks before it find the call not there, those
// after it find it whole. But a handler may have used the same place meanwhile, moved the frames, or started recording.
// Whoever finds a trace of that when it is through looks again.

// Jumped to, so that who jumps needs no registers saved for what it seldom does.
#define NEXT __attribute__((noinline))

// Read or written where it stands, and once: a handler may come before and after.
#define ONCE(field) (*(volatile __typeof__(field) *)&(field))

static SLOW void mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, struct frame *caller) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), caller), *call = caller + 1;
    if (t->top != call) {  // the frames were moved when it was there already
        t->hidden_calls++;
        return;
    }
    // It is there, and somebody who came later has found it open.
    if (place == caller && (call->stack_pointer & ~FRAME_FLAGS) == sp && call->stack_pointer & FRAME_INHERITED) return;
    t->top = place;
    hook_aside(function, call_site, sp, 0, HOOK_ENTER);
}

static SLOW void mend_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook, struct frame *call) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), call);
    if (t->top != call - 1) return;
    t->top = place - 1;
    // That was all, unless it has a record: since somebody came before who found it open, or from the beginning.
    if (place->stack_pointer & FRAME_HIDDEN || (function != ANY_FUNCTION && place->function != function)) return;
    t->top = place;
    hook_aside(function, call_site, sp, 0, hook);
}

INTERNAL void follow_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t settled, struct frame *top,
                           int counts) {
    struct thread *t = &current;
    struct frame *call = top + 1;
    call->function = function;
    call->call_site = call_site;
    call->stack_pointer = sp | FRAME_HIDDEN;
    BARRIER();
    ONCE(t->top) = call;
    if (UNLIKELY(ONCE(t->settled) != settled || ONCE(call->stack_pointer) != (sp | FRAME_HIDDEN)))
        return mend_enter(function, call_site, sp, top);
    if (counts) t->hidden_calls++;
}

INTERNAL void follow_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook, uint64_t settled,
                          struct frame *top) {
    struct thread *t = &current;
    ONCE(t->top) = top - 1;
    if (UNLIKELY(ONCE(t->settled) != settled)) mend_exit(function, call_site, sp, hook, top);
}

// Whether the thread knows the mode and the options, and is not busy.
INTERNAL int is_ready(const struct thread *t) {
    return t->idle == __atomic_load_n(&control.word, __ATOMIC_RELAXED);
}

INTERNAL int is_on_other_stack(const struct thread *t, const struct frame *top, uintptr_t sp) {
    return sp - t->low > top->stack_pointer - t->low;
}

// `is_any`, a constant: as in MODE_TRACE.
INTERNAL int ends(const struct thread *t, const struct frame *top, uintptr_t function, uintptr_t sp, uint64_t hook,
                  int is_any) {
    return (is_any ? is_function(top) : top->function == function) && exit_fits(t, top, sp, hook);
}

// A thread that is stopped follows its calls whatever the options are.
INTERNAL int is_stopped(const struct thread *t) { return (uint32_t)t->idle == MODE_PAUSED; }

void paused_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    struct thread *t = &current;
    if (UNLIKELY(!is_stopped(t))) return hook_aside(function, call_site, sp, 0, HOOK_ENTER);
    uint64_t settled = ONCE(t->settled);
    struct frame *top = ONCE(t->top);
    if (UNLIKELY(is_on_other_stack(t, top, sp))) return hook_aside(function, call_site, sp, 0, HOOK_ENTER);
    if (UNLIKELY(top + 1 >= t->end)) return hook_aside(function, call_site, sp, 0, HOOK_ENTER);
    follow_enter(function, call_site, sp, settled, top, 0);
}

INTERNAL void exit_paused(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook, int is_any) {
    struct thread *t = &current;
    if (UNLIKELY(!is_stopped(t))) return hook_aside(function, call_site, sp, 0, hook);
    uint64_t settled = ONCE(t->settled);
    struct frame *top = ONCE(t->top);
    if (UNLIKELY(!ends(t, top, function, sp, hook, is_any))) return hook_aside(function, call_site, sp, 0, hook);
    follow_exit(function, call_site, sp, hook, settled, top);
}

void paused_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    exit_paused(function, call_site, sp, return_address == call_site ? HOOK_TAIL : HOOK_EXIT, 0);
}

void paused_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function;
    exit_paused(ANY_FUNCTION, call_site, sp, HOOK_EXIT, 1);
}

INTERNAL void begin_hook(struct thread *t, uintptr_t sp) {
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
}

INTERNAL void end_hook(struct thread *t, uint64_t idle) {
    BARRIER();
    t->idle = idle;
    BARRIER();
    if (UNLIKELY(t->side_count)) side_drain(t);
}

// The thread is busy.
static SLOW void enter_slow(uintptr_t function, uintptr_t call_site) {
    hook_slow(function, call_site, current.hook_sp, now_ticks(), HOOK_ENTER);
}
static SLOW void exit_slow(void) {
    struct thread *t = &current;
    if (t->hidden_calls) filter_own_hidden(t);
    record_exit_top(t, now_ticks());
    BARRIER();
    side_drain(t);
}

// Appends what moves the time of the last record on by `delta`, as far as a record's own delta does not, which is left.
INTERNAL char *put_delta(char *cursor, uint64_t *delta) {
    if (*delta < FATHOM_DELTA_LIMIT) return cursor;
    uint64_t word = FATHOM_TIME << 1 | *delta << 16;
    __builtin_memcpy(cursor, &word, sizeof word);
    *delta = 0;
    return cursor + sizeof word;
}

static NEXT void enter_recorded(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t settled) {
    struct thread *t = &current;
    uint64_t idle = t->idle;
    begin_hook(t, sp);
    if (UNLIKELY(t->timed != settled || t->side_count)) return enter_slow(function, call_site);
    uint64_t now = fathom_counter(), last = t->last, delta = now - last;
    struct frame *top = t->top;
    uint64_t site_offset = FATHOM_SITE_SAME;
    if (call_site != top->call_site) {
        site_offset = call_site - top->function;
        if (UNLIKELY(site_offset >= FATHOM_SITE_SAME)) return enter_slow(function, call_site);
    }
    char *record = t->cursor;
    if (UNLIKELY(function >> 32 != t->function_base || record >= t->limit || delta >> 48))
        return enter_slow(function, call_site);
    char *cursor = put_delta(record, &delta);
    uint64_t word = 1 | delta << 1 | site_offset << 16 | (uint64_t)function << 32;
    __builtin_memcpy(cursor, &word, sizeof word);
    cursor += FATHOM_ENTER_SIZE;
    top[1] = (struct frame){function, call_site, t->hook_sp, now};
    t->top = top + 1;
    t->last = now;
    t->calls++;
    t->cursor = cursor;
    if (t->min_cost_ticks) filter_announce(t, last, t->function_base, (uint32_t)(cursor - record));
    else publish(t, top + 1);
    end_hook(t, idle);
}

void slow_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return hook_aside(function, call_site, sp, context, HOOK_ENTER);
    uint64_t settled = ONCE(t->settled);
    struct frame *top = ONCE(t->top);
    if (UNLIKELY(is_on_other_stack(t, top, sp))) return hook_aside(function, call_site, sp, context, HOOK_ENTER);
    if (UNLIKELY(top + 1 >= t->end)) return hook_aside(function, call_site, sp, context, HOOK_ENTER);
    if (UNLIKELY(call_site - task_code.low < task_code.size))
        return hook_aside(function, call_site, sp, context, HOOK_ENTER);
    if (top + 1 < t->hidden_from) return enter_recorded(function, call_site, sp, settled);
    follow_enter(function, call_site, sp, settled, top, 1);
}

static NEXT void exit_recorded(uintptr_t sp, uint64_t settled) {
    struct thread *t = &current;
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
    if (is_too_short(t, call, now)) {
        take_back(t, call, now);
        t->top = call - 1;
        return end_hook(t, idle);
    }
    uint64_t delta = now - t->last;
    if (UNLIKELY(filter->taken == FILTER_PIECE || t->cursor >= t->limit || delta >> 48 ||
                 filter->dropped >= DROPPED_LIMIT))
        return exit_slow();
    char *cursor = t->cursor;
    t->top = call - 1;
    BARRIER();
    if (filter->dropped) {
        count(filter->dropped);
        cursor = put_dropped(cursor, filter);
    }
    cursor = put_delta(cursor, &delta);
    uint16_t unit = (uint16_t)(delta << 1);
    __builtin_memcpy(cursor, &unit, sizeof unit);
    t->cursor = cursor + FATHOM_EXIT_SIZE;
    t->last = now;
    publish(t, call - 1);
    end_hook(t, idle);
}

INTERNAL void exit_filtered(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook, int is_any) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return hook_aside(function, call_site, sp, 0, hook);
    uint64_t settled = ONCE(t->settled);
    struct frame *top = ONCE(t->top);
    if (UNLIKELY(!ends(t, top, function, sp, hook, is_any))) return hook_aside(function, call_site, sp, 0, hook);
    if (top < t->hidden_from) return exit_recorded(sp, settled);
    follow_exit(function, call_site, sp, hook, settled, top);
}

void slow_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    exit_filtered(function, call_site, sp, return_address == call_site ? HOOK_TAIL : HOOK_EXIT, 0);
}

void slow_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function;
    exit_filtered(ANY_FUNCTION, call_site, sp, HOOK_EXIT, 1);
}

FATHOM_WITHOUT_HOOKS_END
