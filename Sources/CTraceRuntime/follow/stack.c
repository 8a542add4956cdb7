// Which stack an address is on. A lane's calls run on the lane's own stack and, while signal handlers run, on signal
// stacks. The addresses of two calls on one stack tell which call is older. Addresses on different stacks do not.

#include "stack.h"

#include "../host/system.h"

#include <signal.h>

FATHOM_WITHOUT_HOOKS

int stack_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high) {
    struct mapping found;
    if (!maps_find(address, &found) || found.low > address) return 0;
    *low = found.low;
    *high = found.high;
    return 1;
}

int stack_of_signals(uintptr_t sp, uintptr_t *low, uintptr_t *high) {
    stack_t stack = {0};
    if (system_signal_stack(&stack) < 0 || stack.ss_flags & SS_DISABLE) return 0;
    *low = (uintptr_t)stack.ss_sp;
    *high = *low + stack.ss_size;
    return lies_on(sp, *low, *high);
}

// The number of signal stacks that the lane's open calls run on. Stacks whose calls have ended are forgotten here,
// because the hooks' fast path does not do it.
static uint32_t signal_stacks(const struct thread *t, struct lane *lane) {
    uint32_t count = lane->signal_stack_count;
    for (; count > 0; count--) {
        struct frame *first = lane->frames + lane->signal_stacks[count - 1].first;
        if (first <= top_of(t, lane) && first->stack_pointer & FRAME_ALTERNATE) break;
    }
    return lane->signal_stack_count = count;
}

int stack_find_signals(struct thread *t, uintptr_t low, uintptr_t high, struct lane **found, struct frame **first) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        uint32_t count = signal_stacks(t, lane);
        for (const struct signal_stack *stack = lane->signal_stacks; stack < lane->signal_stacks + count; stack++) {
            if (lane == running_lane(t) || stack->low >= high || low >= stack->high) continue;
            *found = lane;
            *first = lane->frames + stack->first;
            return 1;
        }
    }
    return 0;
}

void stack_begin_signals(struct thread *t, uintptr_t low, uintptr_t high) {
    struct lane *lane = running_lane(t);
    uint32_t count = signal_stacks(t, lane);
    if (count == SIGNAL_STACKS) count--;
    lane->signal_stacks[count] = (struct signal_stack){(uint32_t)(t->top - lane->frames) + 1, low, high};
    lane->signal_stack_count = count + 1;
}

// The calls of the lane that run on the stack that holds an address. `count` is signal_stacks().
static struct stretch stretch_at(const struct thread *t, struct lane *lane, uint32_t count, uintptr_t sp) {
    struct frame *last = top_of(t, lane);
    while (count-- > 0) {
        const struct signal_stack *stack = &lane->signal_stacks[count];
        struct frame *first = lane->frames + stack->first;
        if (lies_on(sp, stack->low, stack->high)) return (struct stretch){first, last, 1};
        last = first - 1;
    }
    return (struct stretch){lane->frames + 1, last, 0};
}

struct stretch stack_stretch(struct thread *t, uintptr_t sp) {
    struct lane *lane = running_lane(t);
    return stretch_at(t, lane, signal_stacks(t, lane), sp);
}

// The calls on the smallest stack that another stack lies inside. There are none if there is no such stack.
static struct stretch around(struct thread *t, const struct lane *inner, struct lane **outer) {
    struct stretch found = {NULL, NULL, 0};
    uintptr_t least = UINTPTR_MAX;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        if (lane == inner) continue;
        uint32_t count = signal_stacks(t, lane);
        struct stretch stretch = stretch_at(t, lane, count, inner->high);
        uintptr_t low = lane->low, high = lane->high;
        if (stretch.is_signals) {
            const struct signal_stack *stack = lane->signal_stacks;
            while (stretch.first != lane->frames + stack->first) stack++;
            low = stack->low;
            high = stack->high;
        }
        if (inner->low < low || inner->high > high || high - low >= least) continue;
        least = high - low;
        found = stretch;
        *outer = lane;
    }
    return found;
}

void stack_begin_coroutine(struct thread *t, struct lane *inner) {
    struct lane *outer = NULL;
    struct stretch calls = around(t, inner, &outer);
    inner->owner = 0;
    if (!outer || calls.last < calls.first) return;
    struct frame *f = calls.last;
    if (runtime.has_sleds) {
        // Calls tell where their frames end, not how far down they have come.
        while (f >= calls.first && frame_sp(f) <= inner->high) f--;
        if (f < calls.first) return;
    } else {
        if (frame_sp(f) > inner->low) return;
        while (f > calls.first && frame_sp(f - 1) <= inner->low) f--;
    }
    inner->owner = outer->id + 1;
    inner->owner_frame = (uint32_t)(f - outer->frames);
    inner->owner_call = *f;
}

// Whether a call is the one that was in its place `before`. The enter time is not compared for inherited calls, whose
// time has been changed.
static int is_same(const struct frame *call, const struct frame *before) {
    if (frame_sp(call) != frame_sp(before) || call->function != before->function) return 0;
    return call->enter == before->enter || call->stack_pointer & FRAME_INHERITED;
}

int stack_is_gone(struct thread *t, const struct lane *inner) {
    if (!inner->exact || inner == running_lane(t)) return 0;
    if (inner->owner) {
        struct lane *outer = t->lanes;
        while (outer < t->lanes + t->lane_count && outer->id + 1 != inner->owner) outer++;
        if (outer == t->lanes + t->lane_count) return 1;
        struct frame *frame = outer->frames + inner->owner_frame;
        return frame > top_of(t, outer) || !is_same(frame, &inner->owner_call);
    }
    // The function has no hooks. The next calls of its callers tell.
    struct lane *outer = NULL;
    struct stretch calls = around(t, inner, &outer);
    if (!outer || calls.last < calls.first) return 0;
    if (runtime.has_sleds) return 0;
    if (outer == running_lane(t) && calls.last == t->top && frame_sp(t->top) > inner->high) return 1;
    for (struct frame *f = calls.last; f >= calls.first && frame_sp(f) <= inner->high; f--)
        if (frame_sp(f) > inner->low) return 1;
    return 0;
}

// The smallest of the known stacks, because a stack can lie inside a frame on another one.
struct lane *stack_find(struct thread *t, uintptr_t sp, int *is_signals) {
    struct lane *best = NULL;
    uintptr_t least = UINTPTR_MAX;
    *is_signals = 0;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        if (lies_on(sp, lane->low, lane->high) && lane->high - lane->low < least) {
            best = lane;
            least = lane->high - lane->low;
            *is_signals = 0;
        }
        for (uint32_t i = signal_stacks(t, lane); i-- > 0;) {
            const struct signal_stack *stack = &lane->signal_stacks[i];
            uintptr_t size = stack->high - stack->low;
            if (!lies_on(sp, stack->low, stack->high) || size > least) continue;
            if (size == least && *is_signals && lane != running_lane(t)) continue;
            best = lane;
            least = size;
            *is_signals = 1;
        }
    }
    return best;
}

FATHOM_WITHOUT_HOOKS_END
