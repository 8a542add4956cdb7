// The fast paths of MODE_TRACE, of calls whose return address tells where they are: those of functions with sleds, and
// those that go on by a return place. What they answer is in sled_hooks.h.

#ifndef FATHOM_SLED_TRACE_H
#define FATHOM_SLED_TRACE_H

#include "../follow/thread.h"
#include "../modes/straight.h"
#include "../session/sleds.h"
#include "sled_hooks.h"

// Where the sled at a function's beginning ends: the stub that it has called returns there.
INTERNAL uintptr_t sled_end(uintptr_t sp) { return ((const uintptr_t *)sp)[-1]; }

// `is_place` is a constant: the call comes by no sled.
INTERNAL uint32_t trace_begin(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, int is_place) {
    struct writer *w = writer_of(t);
    if (UNLIKELY(!is_free(t) || t->closings != runtime.sled_closings)) return SLED_OTHER;
    t->idle = 0;
    t->hook_sp = sled_hook_sp(sp);
    BARRIER();
    if (!is_place && UNLIKELY(runtime.closes_functions) && !sled_is_open(sled_end(sp)))
        return straight_end(t) ? SLED_INTERRUPTED : SLED_DONE;
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    uint32_t site = fathom_site_field(call_site, top->function, top->call_site);
    // Library functions lie far from those that call them, and these may have no records.
    int is_far = site == FATHOM_SITE_FAR || function >> 32 != w->function_base;
    // The frame of the caller must end above this call's.
    if (UNLIKELY((is_far && !is_place) || delta >= FATHOM_DELTA_LIMIT || w->cursor >= w->limit || top + 1 >= t->end ||
                 !lies_below(t, sp + sizeof(uintptr_t), top) || sp < t->low))
        return SLED_SLOW;
    char *cursor = is_far ? fathom_put_call(w->cursor, function, call_site, site, delta, &w->function_base)
                          : fathom_put_enter(w->cursor, function, delta, site);
    straight_push(t, w, top, (struct frame){{now}, function, call_site, sp}, cursor);
    return straight_end(t) ? SLED_INTERRUPTED : SLED_DONE;
}

// Whether a function that ends at `sp` has no open call, because its call began when its sled was closed.
INTERNAL int was_closed(const struct thread *t, const struct frame *top, uintptr_t sp) {
    return sp - t->low < frame_sp(top) - t->low;
}

INTERNAL uint32_t trace_end(struct thread *t, uintptr_t sp) {
    struct writer *w = writer_of(t);
    if (UNLIKELY(!is_free(t) || t->closings != runtime.sled_closings)) return SLED_OTHER;
    struct frame *top = t->top;
    if (UNLIKELY(top->stack_pointer != sp) && was_closed(t, top, sp))
        return t->ends == UINT32_MAX ? SLED_OTHER : SLED_DONE;
    t->idle = 0;
    t->hook_sp = sled_hook_sp(sp);
    BARRIER();
    uint64_t now = fathom_counter();
    top = t->top;
    uint64_t delta = now - t->last;
    if (UNLIKELY(delta >= FATHOM_DELTA_LIMIT || top->stack_pointer != sp || !is_function(top) || w->cursor >= w->limit))
        return SLED_SLOW;
    char *cursor = fathom_put_exit(w->cursor, delta);
    straight_pop(t, w, top, now, cursor);
    return straight_end(t) ? SLED_INTERRUPTED : SLED_DONE;
}

#endif
