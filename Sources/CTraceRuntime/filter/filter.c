// What was left out is counted in the innermost caller that has a record, with its time where that was measured. Calls
// that are left out for their depth or their function are not timed.

#include "filter.h"

FATHOM_WITHOUT_HOOKS

static struct filter_frame *first_of(const struct lane *lane) { return (struct filter_frame *)lane->beside; }

void filter_own_hidden(struct thread *t) {
    uint64_t calls = t->hidden_calls;
    t->hidden_calls = 0;
    if (!calls || !t->options.slow || t->paused) return;
    struct frame *owner = t->top < t->hidden_from ? t->top : t->hidden_from - 1;
    if (owner->function) filter_of(t, owner)->dropped += calls;
    else filter_count(calls);
}

void filter_end_call(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call);
    int is_turn = filter_turned(filter);
    if (is_turn) filter->taken = filter->taken == FILTER_BOTH ? FILTER_DEFERRED : 0;
    if (filter_is_hidden(call)) filter_end_hidden(t, call);
    filter->dropped = filter->dropped_ticks = 0;
    if (!is_turn) return;
    running_lane(t)->reach.word = filter->last;
    frames_settle(t);
}

void filter_count_all(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct filter_frame *filter = first_of(lane);
        for (struct frame *f = lane->frames; f <= top_of(t, lane); f++, filter++) {
            filter_count(filter->dropped + (filter_is_deferred(filter) && !(f->stack_pointer & FRAME_INHERITED)));
            filter->dropped = filter->dropped_ticks = 0;
        }
    }
}

void filter_fork(struct thread *t) {
    t->hidden_calls = 0;
    for (struct lane *lane = t->lanes; t->options.slow && lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = first_of(lane); f <= first_of(lane) + (top_of(t, lane) - lane->frames); f++)
            f->dropped = f->dropped_ticks = 0;
    }
}

FATHOM_WITHOUT_HOOKS_END
