// Events of signal handlers that interrupted a hook. They go to a buffer of their own, and are followed when the
// interrupted hook is through, so that a handler's records never come in the middle of a hook's.

#include "side.h"

#include "../host/runtime.h"
#include "follow.h"
#include "mode.h"
#include "pause.h"
#include "process.h"
#include "thread.h"

FATHOM_WITHOUT_HOOKS

void side_follow(struct thread *t, const struct event *event, uint64_t now) {
    // A handler has interrupted this hook and forked, and this is the child. The thread is not attached there yet.
    if (UNLIKELY(t->state == THREAD_INTERRUPTED || t->state == THREAD_UNATTACHED)) {
        if (control_mode() == MODE_UNKNOWN && !runtime_ready()) return;
        if (!thread_attach(t, event->stack_pointer)) return;
        t->idle = 0;
        BARRIER();
    }
    pause_settle(t, event);
    if (now < t->last) now = t->last;
    thread_expect_valid(t);
    follow(t, event, now);
    thread_expect_valid(t);
}

// Whether a function that comes by its sled again has told of its call, which has not ended.
static int has_begun(const struct thread *t, const struct event *event) {
    uint32_t count = __atomic_load_n(&t->side_count, __ATOMIC_RELAXED);
    for (uint32_t i = count < SIDE_LIMIT ? count : SIDE_LIMIT; i-- > 0;) {
        const struct event *other = &t->side[i].event;
        if (other->stack_pointer != event->stack_pointer) continue;
        if (other->hook == HOOK_EXIT) return 0;
        if (other->hook == HOOK_ENTER)
            return is_again(event, other->call.function, other->call.call_site, other->stack_pointer);
    }
    return 0;
}

// Handlers may interrupt this and append events themselves, because a place is reserved before it is filled. Relaxed,
// here and in side_drain: only handlers of the same thread come in between.
void side_append(struct thread *t, const struct event *event) {
    uint64_t ticks = now_ticks();
    if (event->is_sled & IS_SLED_AGAIN && has_begun(t, event)) return;
    if (ends_calls(event->hook) && t->side_lost) {
        t->side_lost--;
        return;
    }
    uint32_t place = __atomic_fetch_add(&t->side_count, 1, __ATOMIC_RELAXED);
    if (place >= SIDE_LIMIT) {
        __atomic_fetch_sub(&t->side_count, 1, __ATOMIC_RELAXED);
        // An exit that finds no room, although its enter did, leaves the call open. The next event of the code that was
        // interrupted ends it.
        if (event->hook == HOOK_ENTER) {
            t->side_lost++;
            t->mode->lost(t, HOOK_ENTER);
        }
        return;
    }
    struct side_event side = {ticks, *event};
    // When it is followed, the function has gone on.
    if (event->hook == HOOK_ENTER || event->hook == HOOK_EXIT) side.event.call.registers = NULL;
    t->side[place] = side;
}

void side_drain(struct thread *t) {
    for (;;) {
        t->idle = 0;
        BARRIER();
        uint32_t done = 0, count;
        do {
            for (; done < (count = __atomic_load_n(&t->side_count, __ATOMIC_RELAXED)); done++) {
                struct side_event side = t->side[done];
                if (side.event.hook) side_follow(t, &side.event, side.ticks);
                t->side[done].event.hook = HOOK_NONE;
            }
            // The swap only has to be one instruction, because handlers come between instructions. If a handler has
            // forked meanwhile, the child's count may be less than `done`: the child forgets the events that its parent
            // records.
        } while (!fathom_swap32(&t->side_count, count, 0));
        uint64_t idle = frames_settle(t);
        BARRIER();
        t->idle = idle;
        BARRIER();
        // A handler that came after the swap found the thread still busy.
        if (!t->side_count) return;
    }
}

void side_abandon(struct thread *t) {
    // The hook that was interrupted may have told of a change that it has not made, or made one that it has not told
    // of.
    lane_finish_change(t);
    t->mode->end(t, ENDS_ABANDONED, t->last);
    t->state = THREAD_ATTACHED;
    side_drain(t);
}

void side_give_back(struct thread *t) {
    if (t->state != THREAD_ATTACHED || !is_free(t)) return;
    t->idle = 0;
    BARRIER();
    t->mode->end(t, ENDS_PROCESS, now_ticks());
    side_drain(t);
}

FATHOM_WITHOUT_HOOKS_END
