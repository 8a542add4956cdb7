// Where a lane's open calls are kept. They move when there is no room for more, and when filters are added to them.

#include "lane.h"
#include "thread.h"

#include "../host/runtime.h"
#include "../session/functions.h"

FATHOM_WITHOUT_HOOKS

int frames_allocate(struct lane *lane, size_t count, uint32_t slow) {
    size_t each = sizeof(struct frame) + (slow ? BESIDE_SIZE : 0);
    size_t size = (count * each + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1);
    struct frame *frames = system_allocate(size);
    if (!frames) return 0;
    lane->frames = lane->top = frames;
    lane->end = frames + count;
    lane->beside = slow ? (char *)(frames + count) : NULL;
    lane->mapped = size;
    return 1;
}

// Outgrown arrays of frames make a list. Element 0 of each is no call: its `stack_pointer` points to the array that was
// outgrown before it, and its `call_site` is the array's mapped size. Outgrown arrays stay mapped, because a hook that
// was interrupted by the handler that needed more frames may still use the old array. Together they have fewer than
// twice the frames in use, because an array doubles when it grows, and is replaced by one as long only once, when it is
// widened.
static void outgrow(struct lane *lane, const struct lane *old) {
    lane->outgrown = old->frames;
    lane->outgrown->stack_pointer = (uintptr_t)old->outgrown;
    lane->outgrown->call_site = old->mapped;
}

void frames_free(struct lane *lane) {
    for (struct frame *old = lane->outgrown, *next; old; old = next) {
        next = (struct frame *)old->stack_pointer;
        if (old->call_site) system_free(old, old->call_site);
    }
    if (lane->mapped) system_free(lane->frames, lane->mapped);
}

struct frame *frames_find(const struct lane *lane, struct frame *frame) {
    if (frame >= lane->frames && frame < lane->end) return frame;
    struct frame *frames = NULL;
    for (struct frame *old = lane->outgrown; old; old = (struct frame *)old->stack_pointer)
        if (old <= frame && old > frames) frames = old;
    return lane->frames + (frame - frames);
}

int frames_grow(struct thread *t) {
    struct lane *lane = running_lane(t), old = *lane;
    size_t used = (size_t)(t->top - old.frames) + 1, room = (size_t)(old.end - old.frames);
    if (room >= FATHOM_DEPTH_LIMIT || !frames_allocate(lane, room * 2, t->options.slow)) return 0;
    __builtin_memcpy(lane->frames, old.frames, used * sizeof(struct frame));
    if (old.beside) __builtin_memcpy(lane->beside, old.beside, used * BESIDE_SIZE);
    t->top = lane->frames + used - 1;
    t->end = lane->end;
    frames_settle(t);
    outgrow(lane, &old);
    return 1;
}

int frames_widen(struct thread *t, struct lane *lane) {
    struct lane old = *lane;
    struct frame *top = lane == running_lane(t) ? t->top : lane->top;
    size_t used = (size_t)(top - old.frames) + 1;
    if (old.beside) return 1;
    if (!frames_allocate(lane, (size_t)(old.end - old.frames), 1)) return 0;
    __builtin_memcpy(lane->frames, old.frames, used * sizeof(struct frame));
    lane->top = lane->frames + used - 1;
    if (lane == running_lane(t)) {
        t->top = lane->top;
        t->end = lane->end;
        frames_settle(t);
    }
    outgrow(lane, &old);
    return 1;
}

static struct frame *frame_at(const struct lane *lane, uint64_t index) {
    return index < (uint64_t)(lane->end - lane->frames) ? lane->frames + index : lane->end;
}

// Finds out which calls of the running lane leave no record, from the outermost of them on, and which options of named
// functions still matter there (FATHOM_SAYS_*).
static void aim(struct thread *t) {
    const struct lane *lane = running_lane(t);
    const struct fathom_trigger *limits = named_functions.triggers;
    union reach reach = lane->reach;
    uint32_t says = t->options.slow ? named_functions.says : 0, anywhere = FATHOM_TRIGGER_START;
    uint64_t levels = reach.depth ? limits[reach.depth - 1].levels + 1ull : t->options.max_depth;
    uint64_t first = 1 + reach.base + levels, deferred = 0;
    int seeks = 0;  // whether the function matters even where calls leave no record
    t->looks_for = says & FATHOM_SAYS_TRIGGER;
    t->min_cost = reach.min_cost ? limits[reach.min_cost - 1].min_cost_ticks : t->options.min_cost_ticks;
    if (t->paused == PAUSED_STOPPED) {
        first = 0;
    } else {
        anywhere |= FATHOM_TRIGGER_STOP | FATHOM_TRIGGER_SAVE | FATHOM_TRIGGER_MARK;
        if (reach.without) {
            first = reach.base + 1;
        } else if (says & FATHOM_SAYS_ONLY && !reach.inside) {
            first = 0;
            seeks = 1;
            t->looks_for |= says & (FATHOM_SAYS_ONLY | FATHOM_SAYS_WITHOUT);
        } else {
            t->looks_for |= says & (FATHOM_SAYS_WITHOUT | FATHOM_SAYS_HIDDEN | FATHOM_SAYS_HIT | FATHOM_SAYS_ARGUMENTS |
                                    FATHOM_SAYS_RESULTS);
            anywhere |= FATHOM_TRIGGER_DEPTH;
        }
    }
    if (t->looks_for & FATHOM_SAYS_HIT) {
        uint64_t beyond = reach.hit ? 1 + reach.hit + (uint64_t)named_functions.levels : 1;
        seeks = 1;
        deferred = first;
        if (beyond < first) first = beyond;
    }
    if (named_functions.does & anywhere && says) seeks = 1;
    t->left_out_from = frame_at(lane, first);
    t->deferred_until = frame_at(lane, deferred);
    t->hidden_from = seeks ? lane->end : t->left_out_from;
}

uint64_t frames_settle(struct thread *t) {
    t->settled++;
    t->timed = runtime.clock == FATHOM_CLOCK_COUNTER ? t->settled : 0;
    if (!t->lanes) return IDLE;
    struct lane *lane = running_lane(t);
    aim(t);
    if (lane->beside) t->beside = lane->beside - (char *)lane->frames;
    if (t->state != THREAD_ATTACHED || t->overflow) return IDLE;
    if (t->paused == PAUSED_NO_MEMORY) return IDLE;
    return control_word(mode_of(&t->options, t->paused == PAUSED_STOPPED), t->options.number, t->options.generation);
}

FATHOM_WITHOUT_HOOKS_END
