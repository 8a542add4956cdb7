// Some hooks only push or pop a frame. This is what they do when a signal handler has come in between.

#include "bare.h"

FATHOM_WITHOUT_HOOKS

void hidden_mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, struct frame *caller) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), caller), *call = caller + 1;
    if (t->top != call) {  // the frames were moved after the push, and the call with them
        t->hidden_calls++;
        return;
    }
    // The call is there, and a later start of recording, or a fork, found it open, so that it counts as inherited.
    if (place == caller && (call->stack_pointer & ~FRAME_FLAGS) == sp && call->stack_pointer & FRAME_INHERITED) return;
    t->top = place;
    aside_enter(function, call_site, sp, context);
}

void hidden_mend_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address,
                      struct frame *call) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), call);
    if (t->top != call - 1) return;
    t->top = place - 1;
    // The pop ends the call, unless the call has a record. It has one if it was never hidden, or if recording was
    // started before the pop, while the call was open.
    if (place->stack_pointer & FRAME_HIDDEN || (function != ANY_FUNCTION && place->function != function)) {
        place->shown = 0;  // as the hook has done where it found the call
        return;
    }
    t->top = place;
    aside_exit(function, call_site, sp, return_address);
}

FATHOM_WITHOUT_HOOKS_END
