// Options that leave calls out while recording: a maximum depth and a minimum cost. What is left out is counted in the
// innermost caller that is kept, with its time where that was measured. Calls that are too deep are not timed.

#include "filter.h"

FATHOM_WITHOUT_HOOKS

static struct filter_frame *first_of(const struct lane *lane) { return (struct filter_frame *)lane->beside; }

int filter_hides_next(struct thread *t) { return open_calls(t) - running_lane(t)->pieces >= t->options.max_depth; }

void filter_own_hidden(struct thread *t) {
    struct frame *owner = t->top < t->hidden_from ? t->top : t->hidden_from - 1;
    if (t->options.slow && !t->paused) filter_of(t, owner)->dropped += t->hidden_calls;
    t->hidden_calls = 0;
}

void filter_begin_piece(struct thread *t) {
    struct lane *lane = running_lane(t);
    struct filter_frame *filter = filter_of(t, t->top);
    filter->last = lane->pieces;
    filter->taken = FILTER_PIECE;
    lane->pieces = open_calls(t) - 1;
    frames_settle(t);
}

void filter_end_call(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call);
    filter->dropped = filter->dropped_ticks = 0;
    if (filter->taken != FILTER_PIECE) return;
    filter->taken = 0;
    running_lane(t)->pieces = (uint32_t)filter->last;
    frames_settle(t);
}

void filter_count_all(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = first_of(lane); f <= first_of(lane) + (top_of(t, lane) - lane->frames); f++) {
            filter_count(f->dropped);
            f->dropped = f->dropped_ticks = 0;
        }
    }
}

void filter_stop(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = first_of(lane); f <= first_of(lane) + (top_of(t, lane) - lane->frames); f++)
            f->taken = 0;
        lane->pieces = 0;
    }
}

void filter_start(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++)
        for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++)
            if (f - lane->frames > t->options.max_depth) f->stack_pointer |= FRAME_HIDDEN;
}

void filter_fork(struct thread *t) {
    t->hidden_calls = 0;
    for (struct lane *lane = t->lanes; t->options.slow && lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = first_of(lane); f <= first_of(lane) + (top_of(t, lane) - lane->frames); f++)
            f->dropped = f->dropped_ticks = 0;
    }
}

FATHOM_WITHOUT_HOOKS_END
