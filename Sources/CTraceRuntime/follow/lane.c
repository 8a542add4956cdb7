// Which stack a thread is running on. Each stack has its own open calls: a coroutine's calls are not callees of
// whoever switched to it.

#include "lane.h"

#include "../filter/filter.h"
#include "../host/confine.h"
#include "../modes/trace.h"
#include "context.h"
#include "stack.h"

FATHOM_WITHOUT_HOOKS

#define LANE_FRAMES 256u  // room a coroutine's lane starts with

static int frames_allocate(struct lane *lane, size_t count, uint32_t slow) {
    size_t each = sizeof(struct frame) + (slow ? sizeof(struct filter_frame) : 0);
    size_t size = (count * each + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    struct frame *frames = system_allocate(size);
    if (!frames) return 0;
    lane->frames = lane->top = frames;
    lane->end = frames + count;
    lane->filters = slow ? (struct filter_frame *)(frames + count) : NULL;
    lane->mapped = size;
    return 1;
}

int lane_init(const struct thread *t, struct lane *lane, uint32_t id, uintptr_t low, uintptr_t high) {
    *lane = (struct lane){.id = id, .low = low, .high = high};
    if (!frames_allocate(lane, LANE_FRAMES, t->slow)) return 0;
    lane->frames[0].stack_pointer = high;
    return 1;
}

// Of frames that are outgrown, the first, which is no call, says in `enter` which were outgrown before, and in `call_site`
// how large their mapping is. They stay, half as many as there are at most, because a hook may go on with them: one that
// was interrupted by the handler that needed more.
static void outgrow(struct lane *lane, const struct lane *old) {
    lane->outgrown = old->frames;
    lane->outgrown->enter = (uintptr_t)old->outgrown;
    lane->outgrown->call_site = old->mapped;
}

void frames_free(struct lane *lane) {
    for (struct frame *old = lane->outgrown, *next; old; old = next) {
        next = (struct frame *)(uintptr_t)old->enter;
        if (old->call_site) system_free(old, old->call_site);
    }
    if (lane->mapped) system_free(lane->frames, lane->mapped);
}

struct frame *frames_find(const struct lane *lane, struct frame *frame) {
    if (frame >= lane->frames && frame < lane->end) return frame;
    struct frame *frames = NULL;
    for (struct frame *old = lane->outgrown; old; old = (struct frame *)(uintptr_t)old->enter)
        if (old <= frame && old > frames) frames = old;
    return lane->frames + (frame - frames);
}

int frames_grow(struct thread *t) {
    struct lane *lane = running_lane(t), old = *lane;
    size_t used = (size_t)(t->top - old.frames) + 1, room = (size_t)(old.end - old.frames);
    if (room >= FATHOM_DEPTH_LIMIT || !frames_allocate(lane, room * 2, t->slow)) return 0;
    __builtin_memcpy(lane->frames, old.frames, used * sizeof(struct frame));
    if (old.filters) __builtin_memcpy(lane->filters, old.filters, used * sizeof(struct filter_frame));
    t->top = lane->frames + used - 1;
    t->end = lane->end;
    t->pending = lane->frames + (t->pending - old.frames);
    filter_settle(t);
    outgrow(lane, &old);
    return 1;
}

int frames_filter(struct thread *t, struct lane *lane) {
    struct lane old = *lane;
    struct frame *top = lane == running_lane(t) ? t->top : lane->top;
    size_t used = (size_t)(top - old.frames) + 1;
    if (old.filters) return 1;
    if (!frames_allocate(lane, (size_t)(old.end - old.frames), 1)) return 0;
    __builtin_memcpy(lane->frames, old.frames, used * sizeof(struct frame));
    lane->top = lane->frames + used - 1;
    if (lane == running_lane(t)) {
        t->top = lane->top;
        t->end = lane->end;
        t->pending = t->top + 1;  // none: the thread had no filters
        filter_settle(t);
    }
    outgrow(lane, &old);
    return 1;
}

static void take_up(struct thread *t, uint32_t index) {
    t->lane = index;
    struct lane *lane = running_lane(t);
    t->top = lane->top;
    t->end = lane->end;
    t->low = lane->low;
    t->pending = t->top + 1;
    filter_settle(t);
}

void lane_finish_change(struct thread *t) {
    if (t->lane_change) take_up(t, t->lane_change - 1);
    t->lane_change = 0;
}

void lane_run(struct thread *t, struct lane *lane) {
    if (lane == running_lane(t)) return;
    // Before anything changes: a chunk that begins here begins with the lane that is left.
    uint64_t now = t->last;
    record_make_room(t, &now);
    running_lane(t)->top = t->top;
    BARRIER();
    t->lane_change = (uint32_t)(lane - t->lanes) + 1;
    BARRIER();
    take_up(t, t->lane_change - 1);
    BARRIER();
    t->lane_change = 0;
    record_lane(t);
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
        record_unwind(t, open_calls(t), t->last);
        lane_run(t, running);
    }
    frames_free(gone);
    t->lanes[index] = t->lanes[last];
    if (t->lane == last) t->lane = index;
    t->lane_count--;
}

static void widen(struct thread *t, struct lane *lane, uintptr_t low, uintptr_t high) {
    if (low < lane->low) lane->low = low;
    if (high > lane->high) lane->frames[0].stack_pointer = lane->high = high;
    if (lane == running_lane(t)) t->low = lane->low;
}

// A coroutine whose function returns goes on with the context that its uc_link names, and nobody tells.
static void leave_finished(struct thread *t, uintptr_t sp) {
    const struct lane *finished = running_lane(t);
    const ucontext_t *link = finished->link;
    if (!link || open_calls(t) > 0 || lies_on(sp, finished->low, finished->high)) return;
    if (!system_is_readable(CONTEXT_SP(link))) return;
    int is_signals;
    struct lane *lane = stack_find(t, (uintptr_t)*CONTEXT_SP(link), &is_signals);
    if (lane) lane_run(t, lane);
}

// Whether a handler began to run on a signal stack.
static int begins_signals(struct thread *t, uintptr_t sp, const struct lane *lane, int is_signals) {
    uintptr_t low, high;
    if (is_signals && lane == running_lane(t)) return 0;
    if (!stack_of_signals(sp, &low, &high)) return 0;
    // A coroutine's stack inside a handler's frame.
    if (lane && !is_signals && lane->exact && lane->low >= low && lane->high <= high && lane->high - lane->low < high - low)
        return 0;
    struct lane *running = running_lane(t), *other;
    struct frame *first;
    while (stack_find_signals(t, low, high, &other, &first)) {
        // Its handler was left for good: the kernel takes no stack that is in use.
        lane_run(t, other);
        record_unwind(t, (uint32_t)(t->top - first) + 1, t->last);
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
    struct lane *lane = stack_find(t, sp, &is_signals);
    if (begins_signals(t, sp, lane, is_signals)) return FRAME_ALTERNATE;
    if (!lane && stack_mapping(sp, &low, &high)) {
        // A guessed bound was too tight if the mapping also holds the top of a stack that is known.
        for (struct lane *known = t->lanes; known < t->lanes + t->lane_count && !lane; known++)
            if (!known->exact && known->high > low && known->high <= high)
                widen(t, lane = known, low, known->has_top ? known->high : high);
        if (!lane) lane = lane_add(t, low, high);
    }
    if (lane) lane_run(t, lane);
    else  // no /proc, no memory: take it for the same stack
        widen(t, running_lane(t), sp, sp);
    return 0;
}

void lane_land(struct thread *t, uintptr_t sp, uint64_t now) {
    int is_signals;
    struct lane *lane = stack_find(t, sp, &is_signals);
    if (!lane) return;
    lane_run(t, lane);
    record_landing(t, sp, now);
}

FATHOM_WITHOUT_HOOKS_END
