// Decides which calls are left out for their depth and for what options say of their functions, by the rules by which
// readers filter a tree (TreeBuilder.swift).
//
// A lane's `reach` is how the open calls affect calls that begin below them. The same open calls always have the same
// `reach`, whatever was entered and left before, so it can be computed anew from them.

#include "filter.h"

FATHOM_WITHOUT_HOOKS

static int asks_for(uint32_t what) { return (named_functions.says & what) != 0; }

// How the limits change that hold below a call of a function that says this. Returns whether the call is a turn, and so
// never too short.
static int change_limits(union reach *reach, uint32_t says, uint64_t index) {
    const struct fathom_trigger *trigger = functions_trigger(says);
    if (!trigger || !(trigger->does & (FATHOM_TRIGGER_DEPTH | FATHOM_TRIGGER_MIN_COST | FATHOM_TRIGGER_KEEP))) return 0;
    uint64_t number = (uint64_t)(trigger - named_functions.triggers) + 1;
    if (trigger->does & FATHOM_TRIGGER_MIN_COST) reach->min_cost = number & 15;
    if (trigger->does & FATHOM_TRIGGER_DEPTH) {
        reach->depth = number & 15;
        reach->base = index - 1;
    }
    return 1;
}

// What becomes of the call at `index`, which begins where this is the reach, and what the reach is from there on.
static int judge(const struct thread *t, union reach *reach, uint32_t says, uint64_t index, int is_piece) {
    int becomes = 0;
    if (is_piece) {
        // It is not what the calls below it on the thread's stack have called.
        *reach = (union reach){.base = index - 1};
        becomes = BECOMES_TURN;
    }
    if (reach->without) return becomes | BECOMES_LEFT_OUT;
    if (says & FATHOM_SAYS_WITHOUT) {
        reach->without = 1;
        reach->base = index;
        return BECOMES_TURN | BECOMES_LEFT_OUT;
    }
    if (asks_for(FATHOM_SAYS_ONLY) && !reach->inside) {
        if (!(says & FATHOM_SAYS_ONLY)) return becomes | BECOMES_LEFT_OUT;
        reach->inside = 1;
        reach->base = index - 1;
        becomes = BECOMES_TURN;
    }
    if (change_limits(reach, says, index)) becomes = BECOMES_TURN;
    uint64_t levels = reach->depth ? named_functions.triggers[reach->depth - 1].levels + 1ull : t->options.max_depth;
    int is_too_deep = index > reach->base + levels && !is_piece;
    // Most such calls are followed without a look at their functions, so they never change anything.
    if (is_too_deep && !(says & FATHOM_SAYS_HIT)) return BECOMES_LEFT_OUT;
    if (says & FATHOM_SAYS_HIDDEN) {
        // It is no level, neither of the tree nor below a hit.
        reach->base++;
        if (reach->hit) reach->hit++;
        becomes = BECOMES_TURN | BECOMES_LEFT_OUT;
    }
    if (says & FATHOM_SAYS_HIT) {
        reach->hit = index;
        becomes |= BECOMES_TURN | BECOMES_HIT;
    } else if (asks_for(FATHOM_SAYS_HIT) && !is_piece && !(becomes & BECOMES_LEFT_OUT) &&
               (!reach->hit || index - reach->hit > named_functions.levels)) {
        becomes |= BECOMES_LEFT_OUT | BECOMES_DEFERRED;
    }
    return is_too_deep ? becomes | BECOMES_LEFT_OUT : becomes;
}

int filter_begins(struct thread *t, const struct frame *call, int is_piece) {
    union reach reach = running_lane(t)->reach;
    uint32_t says = named_functions.says ? functions_say(call->function) : 0;
    int becomes = judge(t, &reach, says, (uint64_t)open_calls(t) + 1, is_piece);
    if (becomes & BECOMES_TURN) filter_of(t, t->top + 1)->last = reach.word;
    return becomes;
}

static void note(struct lane *lane, struct filter_frame *filter, int becomes, union reach reach) {
    uint64_t before = lane->reach.word;
    if (!(becomes & (BECOMES_TURN | BECOMES_DEFERRED))) return;
    if (becomes & BECOMES_TURN) filter->last = before;
    filter->taken = !(becomes & BECOMES_TURN)    ? FILTER_DEFERRED
                    : becomes & BECOMES_DEFERRED ? FILTER_BOTH
                                                 : FILTER_TURN;
    BARRIER();
    if (becomes & BECOMES_TURN) lane->reach = reach;
}

void filter_began(struct thread *t, int becomes) {
    struct filter_frame *filter = filter_of(t, t->top);
    note(running_lane(t), filter, becomes, (union reach){.word = filter->last});
    if (becomes & BECOMES_TURN) frames_settle(t);
}

struct frame *filter_first_deferred(struct thread *t) {
    struct frame *first = NULL;
    for (struct frame *f = t->top; f->function && filter_is_hidden(f); f--)
        if (filter_is_deferred(filter_of(t, f))) first = f;
    return first;
}

void filter_keep(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call);
    filter->taken = filter->taken == FILTER_BOTH ? FILTER_TURN : 0;
    call->stack_pointer &= ~FRAME_HIDDEN;
}

// Computes a lane's `reach` from its open calls. With `anew`, this also decides which of them get a record.
static void reckon(struct thread *t, struct lane *lane, int anew) {
    struct frame *top = top_of(t, lane);
    lane->reach.word = 0;
    for (struct frame *f = lane->frames + 1; f <= top; f++) {
        struct filter_frame *filter = (struct filter_frame *)(lane->beside + ((char *)f - (char *)lane->frames));
        uint64_t index = (uint64_t)(f - lane->frames);
        uint32_t says = named_functions.says ? functions_say(f->function) : 0;
        union reach reach = lane->reach;
        int becomes = judge(t, &reach, says, index, 0);
        if (!anew && filter_turned(filter) && !(becomes & BECOMES_TURN)) {  // it is a piece
            reach = lane->reach;
            becomes = judge(t, &reach, says, index, 1);
        }
        if (!anew && !filter_is_deferred(filter)) becomes &= ~BECOMES_DEFERRED;
        if (!anew && filter_is_deferred(filter)) becomes |= BECOMES_DEFERRED;
        filter->taken = 0;
        note(lane, filter, becomes, reach);
        if (!anew) continue;
        if (becomes & BECOMES_LEFT_OUT) f->stack_pointer |= FRAME_HIDDEN;
        for (struct frame *caller = f - 1; becomes & BECOMES_HIT && filter_is_hidden(caller); caller--) {
            struct filter_frame *other = filter - (f - caller);
            if (!filter_is_deferred(other)) continue;
            other->taken = other->taken == FILTER_BOTH ? FILTER_TURN : 0;
            caller->stack_pointer &= ~FRAME_HIDDEN;
        }
    }
}

void filter_stop(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct filter_frame *filter = (struct filter_frame *)lane->beside;
        for (struct frame *f = lane->frames; f <= top_of(t, lane); f++, filter++) filter->taken = 0;
        lane->reach.word = 0;
    }
}

void filter_start(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) reckon(t, lane, 1);
}

void filter_mend(struct thread *t) {
    // A call that has ended may not have taken back what it changed.
    if (t->top + 1 < t->end) filter_of(t, t->top + 1)->taken = 0;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) reckon(t, lane, 0);
}

FATHOM_WITHOUT_HOOKS_END
