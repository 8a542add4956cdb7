// How open calls end: by their exit hook, or without it.

#include "follow.h"

#include "mode.h"

FATHOM_WITHOUT_HOOKS

static void end_innermost(struct thread *t, int answer, uint64_t now) {
    t->top--;
    BARRIER();
    t->mode->exit(t, answer, now);
}

void ending_by_exit(struct thread *t, uint64_t now) {
    int answer = t->mode->before_exit(t, &now);
    end_innermost(t, answer, now);
}

void ending_with_result(struct thread *t, const struct event *exit, uint64_t now) {
    if (!exit->call.registers || !t->mode->before_result) return ending_by_exit(t, now);
    int answer = t->mode->before_result(t, exit, &now);
    end_innermost(t, answer, now);
}

// Here and above, the calls end before they are told. Otherwise a jump out of a handler that came in between would
// leave them open, and the next chunk's path would tell of them a second time.
void ending_unwind(struct thread *t, uint32_t count, uint64_t now) {
    t->overflow = 0;
    for (uint32_t some = count; count > 0; some = count -= some) {
        uint64_t when = now;
        int answer = t->mode->before_unwind(t, &some, &when);
        t->top -= some;
        BARRIER();
        t->mode->unwind(t, answer, some, when);
    }
}

struct stretch ending_by_landing(struct thread *t, uintptr_t sp, uint64_t now) {
    struct stretch stretch = stack_stretch(t, sp);
    struct frame *live = stretch.last;
    while (live >= stretch.first && frame_sp(live) < sp) live--;
    if (live != t->top) ending_unwind(t, (uint32_t)(t->top - live), now);
    return stretch;
}

// With recursion, a call that ended without its exit hook looks like the call that ends now. Only the places of their
// frames tell them apart: frames below the exit's stack pointer are gone, except for the outermost of them when the
// hook was jumped to.
struct frame *ending_find(struct thread *t, const struct event *exit) {
    uintptr_t function = exit->call.function, call_site = exit->call.call_site, sp = exit->stack_pointer;
    enum hook hook = exit->hook;
    struct frame *likely = NULL, *possible = NULL;
    struct stretch stretch = stack_stretch(t, sp);
    for (struct frame *f = stretch.last; f >= stretch.first; f--) {
        int is_below = frame_sp(f) < sp;
        if (hook == HOOK_TAIL && !is_below && likely) break;
        if (function == ANY_FUNCTION ? !is_function(f) : f->function != function) continue;
        if (!possible && function != ANY_FUNCTION) possible = f;
        if (hook == HOOK_TAIL) {
            if (is_below && (f->call_site == call_site || !likely)) likely = f;
        } else if (!is_below) {
            if (f->call_site == call_site) return f;
            if (!likely) likely = f;
        }
    }
    return likely ? likely : possible;
}

FATHOM_WITHOUT_HOOKS_END
