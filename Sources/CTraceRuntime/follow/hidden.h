// Calls that leave no record and only have to be known: those that are entered while recording is stopped, and those
// that are too deep. This is for hooks.
//
// A frame is pushed or popped by one store, that of `top`, and so the thread need not be made busy: a handler's hooks
// before the store do not find the call, and those after it find the whole call. But a handler may meanwhile have used
// the same place, moved the frames, or started recording. A hook that finds a trace of that when it is through looks
// again.

#ifndef FATHOM_HIDDEN_H
#define FATHOM_HIDDEN_H

#include "../host/runtime.h"
#include "aside.h"

// Reads or writes the field where it stands, exactly once, because a handler may come before or after.
#define ONCE(field) (*(volatile __typeof__(field) *)&(field))

// Does what is needed when a handler came in between. `caller` and `call` are where the hook saw them.
SLOW void hidden_mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, struct frame *caller);
SLOW void hidden_mend_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, enum hook hook, struct frame *call);

INTERNAL void hidden_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t settled, struct frame *top,
                           int counts) {
    struct thread *t = &current;
    struct frame *call = top + 1;
    call->function = function;
    call->call_site = call_site;
    call->stack_pointer = sp | FRAME_HIDDEN;
    BARRIER();
    ONCE(t->top) = call;
    if (UNLIKELY(ONCE(t->settled) != settled || ONCE(call->stack_pointer) != (sp | FRAME_HIDDEN)))
        return hidden_mend_enter(function, call_site, sp, top);
    if (counts) t->hidden_calls++;
}

INTERNAL void hidden_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, enum hook hook, uint64_t settled,
                          struct frame *top) {
    struct thread *t = &current;
    ONCE(t->top) = top - 1;
    if (UNLIKELY(ONCE(t->settled) != settled)) hidden_mend_exit(function, call_site, sp, hook, top);
}

// Whether the thread knows the mode and the options, and is not busy. Relaxed: the thread took over the options under
// the lock, when it learnt of this word.
INTERNAL int is_ready(const struct thread *t) {
    return t->idle == __atomic_load_n(&control.word, __ATOMIC_RELAXED);
}

INTERNAL int is_on_other_stack(const struct thread *t, const struct frame *top, uintptr_t sp) {
    return sp - t->low > top->stack_pointer - t->low;
}

// `is_any` is a constant, as in MODE_TRACE.
INTERNAL int ends(const struct thread *t, const struct frame *top, uintptr_t function, uintptr_t sp, enum hook hook,
                  int is_any) {
    return (is_any ? is_function(top) : top->function == function) && exit_fits(t, top, sp, hook);
}

#endif
