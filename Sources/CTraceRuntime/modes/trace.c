// Writing records with everything that the fast path leaves out: long times, far call sites, other function bases,
// chunk borders, calls that end without their exit hook, other stacks.

#include "trace.h"

#include "../file/chunk.h"
#include "../filter/filter.h"
#include "../swift/tasks.h"

FATHOM_WITHOUT_HOOKS

void record_publish(struct thread *t) {
    if (t->chunk) fathom_store32(&t->chunk->used, (uint32_t)(t->cursor - (char *)(t->chunk + 1)));
    t->pending = t->top + 1;
}

static void put(struct thread *t, const void *bytes, size_t size) {
    __builtin_memcpy(t->cursor, bytes, size);
    t->cursor += size;
}

void put_special(struct thread *t, uint16_t special, const void *payload, size_t size) {
    uint16_t unit = (uint16_t)(special << 1);
    put(t, &unit, sizeof unit);
    put(t, payload, size);
}

// Moves the time of the last record to `now`.
static void put_time(struct thread *t, uint64_t now) {
    uint64_t delta = now - t->last, most = (1ull << 48) - 1;
    t->last = now;
    if (delta > most) {
        // A pause of more than a day: 48 bits hold at least 78 hours of a 1 GHz counter.
        put_special(t, FATHOM_TIME, &most, 6);
        delta -= most;
    }
    put_special(t, FATHOM_TIME, &delta, 6);
}

static uint64_t take_delta(struct thread *t, uint64_t now) {
    uint64_t delta = now - t->last;
    if (delta < FATHOM_DELTA_LIMIT) {
        t->last = now;
        return delta;
    }
    put_time(t, now);
    return 0;
}

// Whether a record can be written; moves *now past the time a chunk switch took.
int record_make_room(struct thread *t, uint64_t *now) {
    if (t->cursor >= t->limit && !chunk_make_room(t)) return 0;
    if (*now < t->last) *now = t->last;
    return 1;
}

static void put_enter(struct thread *t, uintptr_t function, uintptr_t call_site, uint64_t now) {
    uint64_t delta = take_delta(t, now);
    uint32_t base = (uint32_t)(function >> 32);
    if (base != t->function_base) {
        put_special(t, FATHOM_BASE, &base, sizeof base);
        t->function_base = base;
    }
    uint64_t offset = call_site == t->top->call_site ? FATHOM_SITE_SAME : call_site - t->top->function;
    if (offset > FATHOM_SITE_SAME || (offset == FATHOM_SITE_SAME && call_site != t->top->call_site)) {
        uint64_t site = call_site;
        put_special(t, FATHOM_SITE, &site, sizeof site);
        offset = 0;
    }
    uint64_t word = 1 | delta << 1 | offset << 16 | (uint64_t)function << 32;
    put(t, &word, sizeof word);
    t->calls++;
}

void record_enter(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now) {
    uintptr_t alternate = 0, context = t->async_context;
    t->async_context = 0;
    if (sp - t->low > t->top->stack_pointer - t->low) {
        alternate = lane_settle(t, sp);
        if (!alternate) {
            struct stretch stretch = record_landing(t, sp, now);
            // A new handler began at the top of a signal stack of which a jump that nobody told of left dead calls.
            if (stretch.is_signals && t->top < stretch.first) alternate = FRAME_ALTERNATE;
        }
    }
    if (t->overflow || (t->top + 1 >= t->end && !frames_grow(t))) {
        t->overflow++;
        if (t->paused != PAUSED_STOPPED) chunk_lose_call(t);
        return;
    }
    uintptr_t hidden = 0;
    uint64_t last = 0, base = 0;
    char *record = NULL;
    int is_piece = task_piece_begins(t, call_site, sp);
    if (t->paused == PAUSED_STOPPED) {
        hidden = FRAME_HIDDEN;
    } else if (t->slow && !t->paused && !is_piece && filter_hides_next(t)) {
        hidden = FRAME_HIDDEN;
        t->hidden_calls++;
    } else if (record_make_room(t, &now)) {
        record = t->cursor;
        last = t->last;
        base = t->function_base;
        if (is_piece) task_put(t, function, call_site, context);
        put_enter(t, function, call_site, now);
    } else if (t->state != THREAD_INTERRUPTED) {  // else the call is the parent's, who records it
        chunk_lose_call(t);
    }
    *++t->top = (struct frame){function, call_site, sp | alternate | hidden, now};
    if (record && t->min_cost_ticks && !is_piece) filter_announce(t, last, base, (uint32_t)(t->cursor - record));
    else if (!hidden) record_publish(t);
    if (t->slow && is_piece && !t->paused) filter_begin_piece(t);
}

// The open call that this exit ends. With recursion, calls that ended without their exit hook look like it; where their
// frames are tells them apart. Frames below the exit's stack pointer are gone, except, when the hook was jumped to, the
// outermost of them.
static struct frame *find_call(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook) {
    struct frame *likely = NULL, *possible = NULL;
    struct stretch stretch = stack_stretch(t, sp);
    for (struct frame *f = stretch.last; f >= stretch.first; f--) {
        int is_below = frame_sp(f) < sp;
        if (hook == HOOK_TAIL && !is_below && likely) break;
        if (function == ANY_FUNCTION ? !is_function(f) : f->function != function) continue;
        if (!possible && function != ANY_FUNCTION) possible = f;
        if (hook == HOOK_TAIL) {
            if (is_below && (f->call_site == call_site || !likely)) likely = f;
        } else if (!is_below) {
            if (f->call_site == call_site) return f;
            if (!likely) likely = f;
        }
    }
    return likely ? likely : possible;
}

void record_exit(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now, uint64_t hook) {
    if (t->overflow) {
        t->overflow--;
        return;
    }
    struct frame *call = t->top;
    int is_top = function == ANY_FUNCTION ? is_function(call) : call->function == function;
    if (!is_top || !exit_fits(t, call, sp, hook)) {
        lane_settle(t, sp);
        call = find_call(t, function, call_site, sp, hook);
    }
    if (!call) {
        if (t->paused) return;
        t->orphans++;
        if (t->chunk) t->chunk->orphan_exits++;
        return;
    }
    if (call != t->top) record_unwind(t, (uint32_t)(t->top - call), now);
    record_exit_top(t, now);
}

void record_exit_top(struct thread *t, uint64_t now) {
    struct frame *call = t->top;
    int is_recorded = !t->paused && !(call->stack_pointer & FRAME_HIDDEN);
    if (is_recorded && t->slow) {
        if (filter_leaves_out(t, now)) is_recorded = 0;
        else filter_tell_dropped(t);
    }
    int has_room = is_recorded && record_make_room(t, &now);
    t->top = call - 1;
    BARRIER();
    if (has_room) {
        uint16_t unit = (uint16_t)(take_delta(t, now) << 1);
        put(t, &unit, sizeof unit);
    }
    if (t->slow && !t->paused) filter_end_call(t, call);
    if (is_recorded) record_publish(t);
}

// The calls end before their record is there, here and below: a jump out of a handler that came between would otherwise
// leave them open, to be told of a second time by the next chunk's path.
static void put_unwind(struct thread *t, uint32_t count, uint64_t now) {
    int has_room = record_make_room(t, &now);
    t->top -= count;
    BARRIER();
    if (!has_room) return;
    if (now != t->last) put_time(t, now);
    put_special(t, FATHOM_UNWIND, &count, sizeof count);
}

void record_unwind(struct thread *t, uint32_t count, uint64_t now) {
    t->overflow = 0;
    if (!t->slow || t->paused) {
        put_unwind(t, count, now);
        record_publish(t);
        return;
    }
    // What the options left out below a call is told before it ends, so one at a time.
    int is_recorded = 0;
    for (; count > 0; count--) {
        struct frame *call = t->top;
        if (call->stack_pointer & FRAME_HIDDEN) {
            t->top--;
        } else {
            is_recorded = 1;
            filter_tell_dropped(t);
            put_unwind(t, 1, now);
        }
        filter_end_call(t, call);
    }
    if (is_recorded) record_publish(t);
}

struct stretch record_landing(struct thread *t, uintptr_t sp, uint64_t now) {
    struct stretch stretch = stack_stretch(t, sp);
    struct frame *live = stretch.last;
    while (live >= stretch.first && frame_sp(live) < sp) live--;
    if (live != t->top) record_unwind(t, (uint32_t)(t->top - live), now);
    return stretch;
}

void record_lane(struct thread *t) {
    if (running_lane(t)->is_stale) {
        // What is open there only a chunk's path can tell.
        if (t->chunk) chunk_finish(t, t->last);
        if (!t->gap) t->gap = GAP_PATH;
        return;
    }
    uint64_t now = t->last;
    if (!record_make_room(t, &now)) return;
    uint32_t payload[2] = {running_lane(t)->id, recorded_calls(t)};
    put_special(t, FATHOM_LANE, payload, sizeof payload);
    record_publish(t);
}

void record_scope_end(struct thread *t, uintptr_t sp, uint64_t now) {
    if (sp - t->low > running_lane(t)->high - t->low) lane_settle(t, sp);
    struct frame *scope = t->top;
    while (is_function(scope)) scope--;
    if (!scope->function && !t->overflow) return;
    // Where its frame is says nothing: the end may be called from another function than the beginning.
    record_exit(t, scope->function, scope->call_site, scope->stack_pointer & ~FRAME_FLAGS, now, HOOK_EXIT);
}

// A coroutine may have ended since the last record, and nobody has told.
static int put_moment(struct thread *t, uintptr_t sp, uint64_t now) {
    const struct lane *lane = running_lane(t);
    if (!lies_on(sp, lane->low, lane->high)) lane_settle(t, sp);
    if (!record_make_room(t, &now)) return 0;
    if (now != t->last) put_time(t, now);
    return 1;
}

void record_mark(struct thread *t, uint32_t name, uintptr_t sp, uint64_t now) {
    if (!put_moment(t, sp, now)) return;
    put_special(t, FATHOM_MARK, &name, sizeof name);
    record_publish(t);
}

void record_counter(struct thread *t, uint32_t name, uint64_t bits, uintptr_t sp, uint64_t now) {
    struct {
        uint32_t name;
        uint64_t bits;
    } __attribute__((packed)) payload = {name, bits};
    if (!put_moment(t, sp, now)) return;
    put_special(t, FATHOM_COUNTER, &payload, sizeof payload);
    record_publish(t);
}

FATHOM_WITHOUT_HOOKS_END
