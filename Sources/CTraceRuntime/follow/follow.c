// What an event means for the open calls: which stack it happened on, which calls it shows to have ended, and which
// call begins or ends by it.

#include "follow.h"

#include "../session/sleds.h"
#include "mode.h"
#include "places.h"

FATHOM_WITHOUT_HOOKS

static void enter(struct thread *t, const struct event *event, uint64_t now) {
    if (event->is_sled && !(event->is_sled & IS_PLACE) && runtime.closes_functions &&
        !sled_is_open(event->call.function + (event->is_sled >> IS_SLED_SHIFT)))
        return;
    uintptr_t alternate = 0, sp = event->stack_pointer;
    // Where a sled reports the call, it begins where its caller's frame ends. What has a frame there has ended.
    uintptr_t end = event->is_sled ? sp + sizeof(uintptr_t) : sp;
    if (!lies_below(t, sp, t->top) || frame_sp(t->top) < end) {
        alternate = lane_settle(t, sp);
        if (!alternate) {
            if (event->is_sled & IS_SLED_AGAIN) {
                ending_by_landing(t, sp, now);
                const struct frame *call = t->top;
                if (is_again(event, call->function, call->call_site, frame_sp(call))) return;
            }
            struct stretch stretch = ending_by_landing(t, end, now);
            // A new handler began at the top of a signal stack that still has dead calls, left by a jump that nobody
            // reported.
            if (stretch.is_signals && t->top < stretch.first) alternate = FRAME_ALTERNATE;
        }
    }
    if (t->overflow || (t->top + 1 >= t->end && !frames_grow(t))) {
        t->overflow++;
        t->mode->lost(t, HOOK_ENTER);
        return;
    }
    struct frame call = {{now}, event->call.function, event->call.call_site, sp | alternate};
    int answer = t->mode->before_enter(t, &call, &now);
    call.enter = now;
    *++t->top = call;
    BARRIER();
    t->mode->enter(t, answer, event, now);
}

// The call of exactly this frame ends. There is none if it began when its sled was closed.
static void leave_by_sled(struct thread *t, const struct event *event, uint64_t now) {
    uintptr_t sp = event->stack_pointer;
    if (!is_function(t->top) || frame_sp(t->top) != sp) {
        lane_settle(t, sp);
        ending_by_landing(t, sp, now);
        if (!is_function(t->top) || frame_sp(t->top) != sp) return;
    }
    ending_with_result(t, event, now);
}

static void leave(struct thread *t, const struct event *event, uint64_t now) {
    if (t->overflow) {
        t->overflow--;
        return;
    }
    if (event->is_sled) return leave_by_sled(t, event, now);
    uintptr_t function = event->call.function;
    struct frame *call = t->top;
    int is_top = function == ANY_FUNCTION ? is_function(call) : call->function == function;
    if (!is_top || !exit_fits(t, call, event->stack_pointer, event->hook == HOOK_TAIL)) {
        lane_settle(t, event->stack_pointer);
        call = ending_find(t, event);
    }
    if (!call) {
        t->mode->lost(t, HOOK_EXIT);
        return;
    }
    if (call != t->top) ending_unwind(t, (uint32_t)(t->top - call), now);
    ending_with_result(t, event, now);
}

static void end_scope(struct thread *t, uintptr_t sp, uint64_t now) {
    if (sp - t->low > running_lane(t)->high - t->low) lane_settle(t, sp);
    struct frame *scope = t->top;
    while (is_function(scope)) scope--;
    if (!scope->function && !t->overflow) return;
    // The place of its frame says nothing, because the end may be called from another function than the beginning.
    struct event exit = {frame_sp(scope), {{scope->function, scope->call_site, 0, NULL}}, HOOK_EXIT, 0};
    leave(t, &exit, now);
}

static void tell(struct thread *t, const struct event *event, uint64_t now) {
    if (event->told.terms & TOLD_BY_PROGRAM) {
        // A coroutine may have ended since the last event without anybody reporting it.
        const struct lane *lane = running_lane(t);
        if (!lies_on(event->stack_pointer, lane->low, lane->high)) lane_settle(t, event->stack_pointer);
    }
    if (t->mode->tell) t->mode->tell(t, &event->told, now);
}

void follow_landing(struct thread *t, uintptr_t sp, uint64_t now) {
    int is_signals;
    struct lane *lane = lane_find(t, sp, &is_signals);
    if (!lane) return;
    lane_run(t, lane);
    for (struct frame *f = t->top; f > lane->frames && frame_sp(f) < sp; f--) place_abandon(f->call_site, frame_sp(f));
    ending_by_landing(t, sp, now);
}

void follow(struct thread *t, const struct event *event, uint64_t now) {
    switch (event->hook) {
    case HOOK_NONE:
    case HOOK_SETTLE: return;
    case HOOK_ENTER: return enter(t, event, now);
    case HOOK_EXIT:
    case HOOK_TAIL: return leave(t, event, now);
    case HOOK_LANDING: return follow_landing(t, event->stack_pointer, now);
    case HOOK_SCOPE_END: return end_scope(t, event->stack_pointer, now);
    case HOOK_TOLD: return tell(t, event, now);
    case HOOK_SAVE: return t->mode->end(t, ENDS_FOR_NOW, now);
    }
}

FATHOM_WITHOUT_HOOKS_END
