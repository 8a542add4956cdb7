// Options that leave calls out while recording: a maximum depth and a minimum cost. What is left out is counted in the
// innermost caller that is kept, with its time where that was measured. Calls that are too deep are not timed.
//
// The record of a call that may prove too short is written, but published only when it is known to stay. So live
// readers never see anything that is taken back, and what a killed process leaves has all of it.

#include "filter.h"

FATHOM_WITHOUT_HOOKS

int filter_hides_next(struct thread *t) { return open_calls(t) - running_lane(t)->pieces >= t->options.max_depth; }

void filter_own_hidden(struct thread *t) {
    struct frame *owner = t->top < t->hidden_from ? t->top : t->hidden_from - 1;
    if (t->options.slow && !t->paused) filter_of(t, owner)->dropped += t->hidden_calls;
    t->hidden_calls = 0;
}

int filter_leaves_out(struct thread *t, uint64_t now) {
    if (!filter_is_too_short(t, t->top, now)) return 0;
    filter_take_back(t, t->top, now);
    return 1;
}

void filter_tell_dropped(struct thread *t) {
    struct filter_frame *filter = filter_of(t, t->top);
    if (filter->dropped) filter_count(filter->dropped);
    while (filter->dropped && (t->cursor < t->limit || chunk_make_room(t)))
        t->cursor = filter_put_dropped(t->cursor, filter);
    filter->dropped = filter->dropped_ticks = 0;
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

void filter_tell_all(struct thread *t) {
    if (t->top->function && !(t->top->stack_pointer & FRAME_HIDDEN)) filter_tell_dropped(t);
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = lane->filters; f <= lane->filters + (top_of(t, lane) - lane->frames); f++) {
            filter_count(f->dropped);
            f->dropped = f->dropped_ticks = 0;
        }
    }
}

void filter_stop(struct thread *t) {
    filter_tell_all(t);
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = lane->filters; f <= lane->filters + (top_of(t, lane) - lane->frames); f++)
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
        for (struct filter_frame *f = lane->filters; f <= lane->filters + (top_of(t, lane) - lane->frames); f++)
            f->dropped = f->dropped_ticks = 0;
    }
}

FATHOM_WITHOUT_HOOKS_END
