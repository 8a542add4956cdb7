// Which stack a thread is running on. Each stack has its own open calls, because a coroutine's calls are not callees of
// the function that switched to it.

#include "lane.h"

#include "../session/metadata.h"
#include "follow.h"
#include "mode.h"
#include "stack.h"

FATHOM_WITHOUT_HOOKS

#define LANE_FRAMES 256u  // room a coroutine's lane starts with

int lane_init(const struct thread *t, struct lane *lane, uint32_t id, uintptr_t low, uintptr_t high) {
    *lane = (struct lane){.id = id, .low = low, .high = high};
    if (!frames_allocate(lane, LANE_FRAMES, t->options.slow)) return 0;
    lane->frames[0].stack_pointer = high;
    return 1;
}

static void take_up(struct thread *t, uint32_t index) {
    t->lane = index;
    struct lane *lane = running_lane(t);
    t->top = lane->top;
    t->end = lane->end;
    t->low = lane->low;
    frames_settle(t);
}

void lane_finish_change(struct thread *t) {
    if (t->lane_change) take_up(t, t->lane_change - 1);
    t->lane_change = 0;
}

void lane_run(struct thread *t, struct lane *lane) {
    if (lane == running_lane(t)) return;
    t->mode->before_lane(t);
    running_lane(t)->top = t->top;
    BARRIER();
    t->lane_change = (uint32_t)(lane - t->lanes) + 1;
    BARRIER();
    take_up(t, t->lane_change - 1);
    BARRIER();
    t->lane_change = 0;
    t->mode->lane(t);
}

struct lane *lane_add(struct thread *t, uintptr_t low, uintptr_t high) {
    if (t->lane_count == t->lane_capacity) {
        size_t size = t->lane_capacity * sizeof(struct lane);
        struct lane *more = system_allocate(size * 2);
        if (!more) return NULL;
        __builtin_memcpy(more, t->lanes, size);
        if ((void *)t->lanes != t->memory) system_free(t->lanes, size);
        t->lanes = more;
        t->lane_capacity *= 2;
    }
    struct lane *lane = &t->lanes[t->lane_count];
    if (!lane_init(t, lane, t->next_lane, low, high)) return NULL;
    t->next_lane++;
    t->lane_count++;
    return lane;
}

void lane_close(struct thread *t, struct lane *gone) {
    uint32_t index = (uint32_t)(gone - t->lanes), last = t->lane_count - 1;
    if (gone->top != gone->frames) {
        struct lane *running = running_lane(t);
        lane_run(t, gone);
        ending_unwind(t, open_calls(t), t->last);
        lane_run(t, running);
    }
    frames_free(gone);
    t->lanes[index] = t->lanes[last];
    if (t->lane == last) t->lane = index;
    t->lane_count--;
}

struct lane *lane_find(struct thread *t, uintptr_t sp, int *is_signals) {
    for (;;) {
        struct lane *lane = stack_find(t, sp, is_signals);
        if (!lane || *is_signals || !stack_is_gone(t, lane)) return lane;
        lane_close(t, lane);
    }
}

static void widen(struct thread *t, struct lane *lane, uintptr_t low, uintptr_t high) {
    if (low < lane->low) lane->low = low;
    if (high > lane->high) lane->frames[0].stack_pointer = lane->high = high;
    if (lane == running_lane(t)) t->low = lane->low;
}

// A coroutine whose function returns goes on with the context that its uc_link names. Nothing reports that.
static void leave_finished(struct thread *t, uintptr_t sp) {
    const struct lane *finished = running_lane(t);
    const ucontext_t *link = finished->link;
    if (!link || open_calls(t) > 0 || lies_on(sp, finished->low, finished->high)) return;
    if (!system_is_readable(CONTEXT_SP(link))) return;
    int is_signals;
    struct lane *lane = lane_find(t, (uintptr_t)*CONTEXT_SP(link), &is_signals);
    if (lane) lane_run(t, lane);
}

// Whether a handler has begun to run on a signal stack.
static int begins_signals(struct thread *t, uintptr_t sp, const struct lane *lane, int is_signals) {
    uintptr_t low, high;
    if (is_signals && lane == running_lane(t)) return 0;
    if (!stack_of_signals(sp, &low, &high)) return 0;
    // This is a coroutine's stack inside a handler's frame.
    if (lane && !is_signals && lane->exact && lane->low >= low && lane->high <= high &&
        lane->high - lane->low < high - low)
        return 0;
    struct lane *running = running_lane(t), *other;
    struct frame *first;
    while (stack_find_signals(t, low, high, &other, &first)) {
        // The handler on this stack was left for good: the kernel never uses a signal stack that is in use.
        lane_run(t, other);
        ending_unwind(t, (uint32_t)(t->top - first) + 1, t->last);
        lane_run(t, running);
    }
    stack_begin_signals(t, low, high);
    return 1;
}

uintptr_t lane_settle(struct thread *t, uintptr_t sp) {
    int is_signals;
    uintptr_t low, high;
    if (confine_unnoted()) return 0;
    leave_finished(t, sp);
    struct lane *lane = lane_find(t, sp, &is_signals);
    if (begins_signals(t, sp, lane, is_signals)) return FRAME_ALTERNATE;
    if (!lane && stack_mapping(sp, &low, &high)) {
        // A guessed bound was too tight if the mapping also holds the top of a known stack.
        for (struct lane *known = t->lanes; known < t->lanes + t->lane_count && !lane; known++)
            if (!known->exact && known->high > low && known->high <= high)
                widen(t, lane = known, low, known->has_top ? known->high : high);
        if (!lane) lane = lane_add(t, low, high);
    }
    if (lane) lane_run(t, lane);
    else  // without /proc or memory, it is taken for the same stack
        widen(t, running_lane(t), sp, sp);
    return 0;
}

FATHOM_WITHOUT_HOOKS_END
