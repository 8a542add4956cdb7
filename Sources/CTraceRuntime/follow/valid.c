// What holds for a thread at every slow path, whatever the program does.

#include "thread.h"

#ifdef FATHOM_VALID

#include "mode.h"
#include "side.h"

FATHOM_WITHOUT_HOOKS

static const char *what;  // the condition that does not hold

static int holds(int condition, const char *name) {
    if (!condition) what = name;
    return condition;
}
#define HOLDS(condition) holds(!!(condition), #condition)

// The hooks' fast paths rely on this: each call lies below its caller, or where it does, except for the first one on a
// signal stack. Distances from the stack's lower bound are compared, because a signal stack may lie below that.
static int frames_are_ordered(const struct lane *lane, const struct frame *top) {
    for (const struct frame *call = lane->frames + 1; call <= top; call++) {
        if (!HOLDS(call->function)) return 0;
        if (call->stack_pointer & FRAME_ALTERNATE) continue;
        if (!HOLDS(frame_sp(call) - lane->low <= call[-1].stack_pointer - lane->low)) return 0;
    }
    return 1;
}

static int lane_is_valid(struct thread *t, const struct lane *lane) {
    const struct frame *top = top_of(t, lane);
    return HOLDS(lane->low < lane->high) && HOLDS(lane->frames) && HOLDS(lane->frames <= top) &&
           HOLDS(top < lane->end) && HOLDS(!lane->frames->function) &&
           HOLDS(lane->frames->stack_pointer == lane->high) && HOLDS(!t->options.slow || lane->beside) &&
           HOLDS(lane->signal_stack_count <= SIGNAL_STACKS) &&
           HOLDS(lane->reach.base <= (uint64_t)(top - lane->frames)) &&
           HOLDS(lane->reach.hit <= (uint64_t)(top - lane->frames)) && HOLDS(lane->id < t->next_lane) &&
           frames_are_ordered(lane, top);
}

// Stacks whose bounds were told lie apart, or one lies inside the other.
static int are_disjoint(const struct lane *a, const struct lane *b) {
    if (!a->exact || !b->exact || a->high <= b->low || b->high <= a->low) return 1;
    return (a->low <= b->low && b->high <= a->high) || (b->low <= a->low && a->high <= b->high);
}

static int lanes_are_valid(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        if (!lane_is_valid(t, lane)) return 0;
        for (struct lane *other = t->lanes; other < lane; other++)
            if (!HOLDS(other->id != lane->id) || !HOLDS(are_disjoint(other, lane))) return 0;
    }
    return 1;
}

int thread_is_valid(struct thread *t) {
    if (t->state != THREAD_ATTACHED && t->state != THREAD_LATE) return 1;
    const struct lane *running = running_lane(t);
    return HOLDS(t->mode) && HOLDS(t->memory) && HOLDS(!t->idle) && HOLDS(t->lane < t->lane_count) &&
           HOLDS(t->lane_count <= t->lane_capacity) && HOLDS(t->low == running->low) && HOLDS(t->end == running->end) &&
           HOLDS(t->side_count <= SIDE_LIMIT) && HOLDS((t->paused == PAUSED_STOPPED) == (t->mode == mode_for(t, 1))) &&
           HOLDS(t->left_out_from <= t->hidden_from) && HOLDS(t->hidden_from <= t->end) && lanes_are_valid(t) &&
           HOLDS(t->mode->is_valid(t));
}

void thread_expect_valid(struct thread *t) {
    if (!thread_is_valid(t)) system_fail(what);
}

FATHOM_WITHOUT_HOOKS_END

#endif
