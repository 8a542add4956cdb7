// The hooks of modes in which each call gets its record at once, and times are read from the CPU's counter.

#ifndef FATHOM_STRAIGHT_H
#define FATHOM_STRAIGHT_H

#include "../follow/aside.h"
#include "../record/chunk.h"
#include "trace.h"

// Lets readers have the record that ends at the cursor.
INTERNAL void straight_publish(struct writer *w, char *cursor) {
    w->cursor = cursor;
    fathom_store32(&w->chunk->used, (uint32_t)(cursor - (char *)(w->chunk + 1)));
}

// Makes the call the innermost one, after the one at `top`. Its record ends at the cursor.
INTERNAL void straight_push(struct thread *t, struct writer *w, struct frame *top, struct frame call, char *cursor) {
    top[1] = call;
    t->top = top + 1;
    t->last = call.enter;
    w->calls++;
    straight_publish(w, cursor);
}

// Ends the call at `top`, the innermost one. Its record ends at the cursor.
INTERNAL void straight_pop(struct thread *t, struct writer *w, struct frame *top, uint64_t now, char *cursor) {
    t->top = top - 1;
    t->last = now;
    straight_publish(w, cursor);
}

// The thread is no longer busy. Returns whether a handler has left events meanwhile.
INTERNAL int straight_end(struct thread *t) {
    BARRIER();
    t->idle = IDLE;
    BARRIER();
    return UNLIKELY(t->side_count);
}

INTERNAL void straight_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    if (UNLIKELY(!is_free(t))) return aside_enter(function, call_site, sp, context);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    uint32_t site = fathom_site_field(call_site, top->function, top->call_site);
    if (UNLIKELY(site == FATHOM_SITE_FAR || delta >= FATHOM_DELTA_LIMIT || function >> 32 != w->function_base ||
                 w->cursor >= w->limit || top + 1 >= t->end || !lies_below(t, sp, top)))
        return aside_busy_hook(function, call_site, sp, context, now, HOOK_ENTER);
    char *cursor = fathom_put_enter(w->cursor, function, delta, site);
    straight_push(t, w, top, (struct frame){{now}, function, call_site, sp}, cursor);
    if (straight_end(t)) aside_busy_end();
}

// `is_any` is a constant: the hook does not say what its function is, and `function` is ANY_FUNCTION. So is `watches`:
// the recorder hears of calls that take long.
INTERNAL void straight_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any,
                            int watches) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    if (UNLIKELY(!is_free(t))) return aside_exit(function, call_site, sp, return_address);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    uint64_t delta = now - t->last;
    if (UNLIKELY(delta >= FATHOM_DELTA_LIMIT || (is_any ? !is_function(top) : top->function != function) ||
                 w->cursor >= w->limit || !exit_fits(t, top, sp, return_address == call_site)))
        return aside_busy_hook(function, call_site, sp, 0, now, hook_of_exit(call_site, return_address));
    char *cursor = fathom_put_exit(w->cursor, delta);
    straight_pop(t, w, top, now, cursor);
    if (watches && UNLIKELY(requests_wants(now - top->enter))) long_call_note(t, top, now);
    if (straight_end(t)) aside_busy_end();
}

#endif
