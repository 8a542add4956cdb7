// Options that leave calls out while recording: a maximum depth, a minimum cost. What is left out is counted, with its
// time, in the innermost caller that is kept.

#include "runtime.h"

FATHOM_WITHOUT_HOOKS

static struct filter_frame *filter_of(struct thread *t, struct frame *call) {
    struct lane *lane = running_lane(t);
    return &lane->filters[call - lane->frames];
}

static int is_hidden(const struct frame *call) { return (call->stack_pointer & FRAME_HIDDEN) != 0; }

void filter_enter(struct thread *t, char *record, uint64_t last, uint64_t function_base, uintptr_t hidden,
                  int is_piece) {
    const struct filter_frame *caller = filter_of(t, t->top);
    *filter_of(t, t->top + 1) = (struct filter_frame){
        .record = record,
        .record_end = record ? t->cursor : NULL,
        .last = last,
        .sequence = t->sequence,
        .function_base = (uint32_t)function_base,
        .recorded = caller->recorded + !hidden,
        .base = is_piece ? open_calls(t) : caller->base,
    };
}

void filter_inherit(struct lane *lane, struct frame *call, uint32_t max_depth) {
    uint32_t index = (uint32_t)(call - lane->frames);
    struct filter_frame *filter = &lane->filters[index];
    uintptr_t hidden = index > max_depth ? FRAME_HIDDEN : 0;
    if (hidden || is_hidden(call)) filter->dropped_ticks = 0;  // it means another thing from here on, or began here
    call->stack_pointer = (call->stack_pointer & ~FRAME_HIDDEN) | hidden;
    filter->recorded = index < max_depth ? index : max_depth;
    filter->base = 0;
}

void filter_fork(struct lane *lane, const struct frame *call) {
    struct filter_frame *filter = &lane->filters[call - lane->frames];
    filter->dropped = 0;
    filter->dropped_ticks = 0;
}

int filter_hides_next(struct thread *t) { return open_calls(t) - filter_of(t, t->top)->base >= t->max_depth; }

// A piece of a task stays, however short or deep: it is part of a call that may be neither.
static int is_piece(struct thread *t, struct frame *call) {
    return filter_of(t, call)->base == (uint32_t)(call - 1 - running_lane(t)->frames);
}

void filter_leave_out(struct thread *t, struct frame *call, uint64_t now) {
    if (!call[-1].function) return;  // a root: no caller to keep count
    struct filter_frame *filter = filter_of(t, call), *caller = filter_of(t, call - 1);
    // One that was open when recording was started was counted when it was entered, or is not to be.
    caller->dropped += !(call->stack_pointer & FRAME_INHERITED) + filter->dropped;
    // The time of a hidden caller holds its callees' already.
    uint64_t ticks = is_hidden(call) ? filter->dropped_ticks : 0;
    caller->dropped_ticks += is_hidden(call - 1) ? ticks : now - call->enter - ticks;
}

void filter_end(struct thread *t, uint64_t now) {
    filter_tell_dropped(t);
    struct frame *call = t->top;
    if (call[-1].function && is_hidden(call - 1)) filter_of(t, call - 1)->dropped_ticks += now - call->enter;
}

void filter_forget(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call);
    __atomic_fetch_add(&runtime.buffers->left_out_calls, filter->dropped, __ATOMIC_RELAXED);
    *filter = (struct filter_frame){0};
}

// Takes back the record of the innermost call. It is the last thing in the chunk.
static void take_back(struct thread *t, struct filter_frame *filter) {
    t->cursor = filter->record;
    t->last = filter->last;
    t->function_base = filter->function_base;
    t->calls--;
    fathom_store32(&t->chunk->used, (uint32_t)(t->cursor - (char *)(t->chunk + 1)));
}

void filter_exit(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now, uint64_t hook) {
    struct frame *call = t->top;
    int is_top =
        function == ANY_FUNCTION ? is_function(call) : call->function == function && call->call_site == call_site;
    if (!t->overflow && is_top && exit_fits(t, call, sp, hook) && call[-1].function) {
        struct filter_frame *filter = filter_of(t, call);
        int short_leaf = now - call->enter < t->min_cost_ticks && t->chunk && filter->sequence == t->sequence &&
                         t->cursor == filter->record_end && !is_piece(t, call);
        if (is_hidden(call) || short_leaf) {
            filter_leave_out(t, call, now);
            if (!is_hidden(call)) take_back(t, filter);
            t->top = call - 1;
            return;
        }
    }
    record_exit(t, function, call_site, sp, now, hook);
}

void filter_tell_dropped(struct thread *t) {
    struct filter_frame *filter = filter_of(t, t->top);
    if (!filter->dropped || (t->cursor >= t->limit && !chunk_make_room(t))) return;
    struct {
        uint32_t calls;
        uint64_t ticks;
    } __attribute__((packed)) payload = {filter->dropped, filter->dropped_ticks};
    put_special(t, FATHOM_DROPPED, &payload, sizeof payload);
    __atomic_fetch_add(&runtime.buffers->left_out_calls, filter->dropped, __ATOMIC_RELAXED);
    filter->dropped = 0;
    filter->dropped_ticks = 0;
}

FATHOM_WITHOUT_HOOKS_END
