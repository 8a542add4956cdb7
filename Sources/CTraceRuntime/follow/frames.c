// Where a lane's open calls are kept. They move when there is no room for more, and when filters are added to them.

#include "lane.h"
#include "thread.h"

#include "../host/runtime.h"

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

// Outgrown frames make a list: the first of them, which is no call, says in `enter` which frames were outgrown before
// them, and in `call_site` how large their mapping is. They stay mapped, because a hook may go on with them that was
// interrupted by the handler that needed more. Together they are fewer than twice the frames in use, because frames
// double when they grow, and are replaced by as many only once, when they are widened.
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

uint64_t frames_settle(struct thread *t) {
    t->settled++;
    t->timed = runtime.clock == FATHOM_CLOCK_COUNTER ? t->settled : 0;
    if (!t->lanes) return IDLE;
    struct lane *lane = running_lane(t);
    // The first call that is hidden.
    uint64_t first = t->paused == PAUSED_STOPPED ? 0 : 1 + (uint64_t)lane->pieces + t->options.max_depth;
    t->hidden_from = first < (uint64_t)(lane->end - lane->frames) ? lane->frames + first : lane->end;
    if (lane->beside) t->beside = lane->beside - (char *)lane->frames;
    if (t->state != THREAD_ATTACHED || t->overflow) return IDLE;
    if (t->paused == PAUSED_NO_MEMORY) return IDLE;
    return control_word(mode_of(&t->options, t->paused == PAUSED_STOPPED), t->options.generation);
}

FATHOM_WITHOUT_HOOKS_END
