// What hooks that only push or pop a frame do when a signal handler came in between.

#include "hidden.h"

FATHOM_WITHOUT_HOOKS

void hidden_mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, struct frame *caller) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), caller), *call = caller + 1;
    if (t->top != call) {  // the frames were moved when it was there already
        t->hidden_calls++;
        return;
    }
    // The call is there, and somebody who came later has found it open.
    if (place == caller && (call->stack_pointer & ~FRAME_FLAGS) == sp && call->stack_pointer & FRAME_INHERITED) return;
    t->top = place;
    hook_aside(function, call_site, sp, 0, HOOK_ENTER);
}

void hidden_mend_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, enum hook hook, struct frame *call) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), call);
    if (t->top != call - 1) return;
    t->top = place - 1;
    // The pop ends the call, unless the call has a record: since somebody found it open before the pop, or from the
    // beginning.
    if (place->stack_pointer & FRAME_HIDDEN || (function != ANY_FUNCTION && place->function != function)) return;
    t->top = place;
    hook_aside(function, call_site, sp, 0, hook);
}

FATHOM_WITHOUT_HOOKS_END
