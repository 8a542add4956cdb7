// Stopping and starting, for one thread. A stopped thread's hooks follow its open calls and nothing else, so that what
// is open is known, and true, when recording starts again. What was open at the stop ends there; what is open at the
// start begins there, inherited. A thread that makes no call meanwhile has missed nothing and goes on.

#include "pause.h"

#include "../file/chunk.h"
#include "../file/modules.h"
#include "../filter/filter.h"
#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

void pause_take_options(struct thread *t) {
    uint64_t signals = lock_take(&runtime.control_lock);
    t->generation = runtime.generation;
    t->max_depth = runtime.max_depth;
    t->min_cost_ticks = runtime.min_cost_ticks;
    t->slow = runtime.slow;
    lock_give(&runtime.control_lock, signals);
}

static void stop(struct thread *t) {
    if (t->slow) filter_stop(t);
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct frame *top = lane == running_lane(t) ? t->top : lane->top;
        for (struct frame *f = lane->frames + 1; f <= top; f++) f->stack_pointer |= FRAME_HIDDEN;
    }
    if (t->chunk) {
        uint64_t end = __atomic_load_n(&runtime.stop_ticks, __ATOMIC_RELAXED);
        t->chunk->flags |= FATHOM_FLAG_STOPPED;
        chunk_finish(t, end);
    }
    t->paused = PAUSED_STOPPED;
}

static void start(struct thread *t) {
    uint64_t now = now_ticks();
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct frame *top = lane == running_lane(t) ? t->top : lane->top;
        for (struct frame *f = lane->frames + 1; f <= top; f++) {
            f->stack_pointer = (f->stack_pointer & ~FRAME_HIDDEN) | FRAME_INHERITED;
            f->enter = now;
            if (t->slow) filter_start(lane, f, t->max_depth);
        }
        lane->is_stale = lane != running_lane(t);
    }
    if (!t->gap) t->gap = GAP_PATH;
    t->pending = t->top + 1;  // whatever was entered meanwhile has no record, and there is no chunk to take one out of
    t->retry = 0;
    t->paused = 0;
    if (runtime.modules_stale) modules_scan();
}

static int change_options(struct thread *t) {
    uint32_t slow = t->slow;
    pause_take_options(t);
    if (!t->slow || slow) return 1;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        if (frames_filter(t, lane)) continue;
        t->slow = 0;
        t->generation--;  // try again
        return 0;
    }
    return 1;
}

void pause_settle(struct thread *t) {
    if (t->hidden_calls) filter_own_hidden(t);
    uint32_t stopped = control.mode == MODE_PAUSED ? PAUSED_STOPPED : 0;
    int changed = t->generation != fathom_load32(&runtime.generation);
    if (t->paused == stopped && !changed) return;
    uint64_t signals = system_block_signals();
    if (!t->paused) stop(t);
    if (changed && !change_options(t)) t->paused = PAUSED_NO_MEMORY;
    else if (stopped) t->paused = PAUSED_STOPPED;
    else start(t);
    system_restore_signals(signals);
}

FATHOM_WITHOUT_HOOKS_END
