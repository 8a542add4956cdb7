// The hooks of modes in which each call gets its record at once, and times are read from the CPU's counter.

#ifndef FATHOM_STRAIGHT_H
#define FATHOM_STRAIGHT_H

#include "../follow/aside.h"
#include "../record/chunk.h"
#include "long_call.h"

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
        return hook_slow(function, call_site, sp, context, now, HOOK_ENTER);
    char *cursor = fathom_put_enter(w->cursor, function, delta, site);
    top[1] = (struct frame){function, call_site, sp, {now}};
    t->top = top + 1;
    t->last = now;
    w->calls++;
    w->cursor = cursor;
    fathom_store32(&w->chunk->used, (uint32_t)(cursor - (char *)(w->chunk + 1)));
    BARRIER();
    t->idle = IDLE;
    BARRIER();
    if (UNLIKELY(t->side_count)) hook_interrupted();
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
        return hook_slow(function, call_site, sp, 0, now, hook_of_exit(call_site, return_address));
    char *cursor = fathom_put_exit(w->cursor, delta);
    t->top = top - 1;
    t->last = now;
    w->cursor = cursor;
    fathom_store32(&w->chunk->used, (uint32_t)(cursor - (char *)(w->chunk + 1)));
    if (watches && UNLIKELY(requests_wants(now - top->enter))) long_call_note(t, top, now);
    BARRIER();
    t->idle = IDLE;
    BARRIER();
    if (UNLIKELY(t->side_count)) hook_interrupted();
}

#endif
