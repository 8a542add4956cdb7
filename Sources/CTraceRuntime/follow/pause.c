// Stops and starts recording, for one thread. While recording is stopped, the thread's hooks follow its open calls and
// nothing else, so that the open calls are known, and truly open, when recording starts again. In the recording, calls
// that are open at the stop end there, and calls that are open at the start begin there, as inherited ones. A thread
// that makes no call in between has missed nothing and simply goes on.

#include "pause.h"

#include "../host/runtime.h"
#include "../session/steering.h"
#include "mode.h"

FATHOM_WITHOUT_HOOKS

static void take_options(struct thread *t) {
    uint64_t signals = lock_take(LOCK_CONTROL);
    t->options = runtime.options;
    lock_give(LOCK_CONTROL, signals);
}

static void set(struct thread *t, uint32_t paused) {
    t->paused = paused;
    t->mode = mode_for(t, paused == PAUSED_STOPPED);
}

void pause_begin(struct thread *t) {
    take_options(t);
    set(t, PAUSED_NOT);
    t->saves = fathom_load32(&runtime.saves);
    t->stops = fathom_load32(&runtime.stops);
}

// Relaxed: pause_settle has acquired the mode, which was set after it. If recording was stopped once more by now, the
// later time is as good.
static uint64_t stop_time(void) { return __atomic_load_n(&runtime.stop_ticks, __ATOMIC_RELAXED); }

static void stop(struct thread *t, uint64_t end) {
    t->mode->end(t, ENDS_STOPPED, end);
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++)
        for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++) f->stack_pointer |= FRAME_HIDDEN;
}

static void start(struct thread *t) {
    uint64_t now = now_ticks();
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        for (struct frame *f = lane->frames + 1; f <= top_of(t, lane); f++) {
            f->stack_pointer = (f->stack_pointer & ~FRAME_HIDDEN) | FRAME_INHERITED;
            f->enter = now;
        }
        lane->is_stale = lane != running_lane(t);
    }
    set(t, PAUSED_NOT);
    t->mode->begin(t, BEGINS_RUNNING);
}

static int change_options(struct thread *t) {
    uint32_t slow = t->options.slow;
    take_options(t);
    if (!t->options.slow || slow) return 1;
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        if (frames_widen(t, lane)) continue;
        t->options.slow = 0;
        t->options.generation--;  // try again
        return 0;
    }
    return 1;
}

void pause_catch_up(struct thread *t) {
    uint32_t stops = fathom_load32(&runtime.stops);
    t->mode->settle(t, NULL);
    if (t->paused || t->stops == stops) return;
    uint64_t signals = system_block_signals();
    t->stops = stops;
    stop(t, stop_time());
    set(t, PAUSED_STOPPED);
    system_restore_signals(signals);
}

void pause_settle(struct thread *t, const struct event *event) {
    t->mode->settle(t, event);
    uint32_t stamp = fathom_load32(&runtime.stamp), saves = fathom_load32(&runtime.saves);
    t->options.number = fathom_load32(&runtime.options.number);
    if (UNLIKELY(t->saves != saves)) {
        t->saves = saves;
        t->mode->end(t, ENDS_FOR_NOW, t->last);
    }
    uint32_t stopped = control_mode() == MODE_PAUSED ? PAUSED_STOPPED : PAUSED_NOT;
    int changed = t->options.generation != fathom_load32(&runtime.options.generation);
    uint32_t stops = fathom_load32(&runtime.stops);
    int missed = runtime.is_armed && !t->paused && !stopped && t->stops != stops;
    t->stops = stops;
    if (t->paused == stopped && !changed && !missed) {
        if (UNLIKELY(t->stamp != stamp)) steering_tell_thread(&t->stamp, stamp, 0);
        return;
    }
    uint64_t signals = system_block_signals();
    // Where only the options have changed, open calls go on at once.
    if (!t->paused) stop(t, stopped ? stop_time() : now_ticks());
    if (changed && !change_options(t)) set(t, PAUSED_NO_MEMORY);
    else if (stopped) set(t, PAUSED_STOPPED);
    else start(t);
    if (t->paused != PAUSED_NO_MEMORY) steering_tell_thread(&t->stamp, stamp, 0);
    system_restore_signals(signals);
}

FATHOM_WITHOUT_HOOKS_END
