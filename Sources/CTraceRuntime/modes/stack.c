// The open calls are followed and numbered, so that the recorder can read which there are, at an interval, and knows
// what belongs together (CTraceStack.h). No clock is read, and nothing is written for the recorder but by slow paths.

#include "CTraceStack.h"

#include "../record/shown.h"
#include "bare.h"
#include "profile.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

// The numbers go on.
static void settle(struct thread *t, const struct event *event) { (void)t, (void)event; }

static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    (void)t, (void)now;
    call->stack_pointer |= FRAME_HIDDEN;
    return 0;
}

static void told_enter(struct thread *t, int answer, const struct event *event, uint64_t now) {
    (void)answer, (void)event, (void)now;
    t->top->shown = fathom_open_word(++t->call_number, t->top[-1].shown);
    shown_lane(t);
}

static void told_exit(struct thread *t, int answer, uint64_t now) {
    (void)answer, (void)now;
    t->top[1].shown = 0;
}

static void told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    (void)answer, (void)now;
    for (struct frame *call = t->top + count; call > t->top; call--) call->shown = 0;
}

#ifdef FATHOM_VALID
static int is_valid(const struct thread *t) {
    const struct lane *lane = &t->lanes[t->lane];
    for (const struct frame *f = lane->frames + 1; f <= t->top; f++)
        if (f->shown >> 32 != (uint32_t)f[-1].shown || !(uint32_t)f->shown) return 0;
    return t->top + 1 >= t->end || !t->top[1].shown;
}
#endif

const struct mode stack_mode = {
    .settle = settle,
    .begin = shown_begin,
    .end = shown_end,
    .fork = shown_fork,
    .before_enter = before_enter,
    .enter = told_enter,
    .before_exit = profile_before_exit,
    .exit = told_exit,
    .before_unwind = profile_before_unwind,
    .unwind = told_unwind,
    .before_lane = profile_before_lane,
    .lane = shown_lane,
    .lost = profile_lost,
#ifdef FATHOM_VALID
    .is_valid = is_valid,
#endif
};

// ---- hooks

// The number is taken before the push, so that the calls of a handler that comes after it have others.
INTERNAL void push(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, struct found found) {
    uint64_t word = fathom_open_word(++current.call_number, found.top->shown);
    BARRIER();
    if (UNLIKELY(!hidden_push(function, call_site, sp, found, &word)))
        hidden_mend_enter(function, call_site, sp, context, found.top);
}

NEXT void enter_other(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct found found = hidden_begin(&current);
    if (UNLIKELY(!is_ready(&current) || !bare_can_push(&current, sp, found)))
        return aside_enter(function, call_site, sp, context);
    push(function, call_site, sp, context, found);
}

void stack_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return aside_enter(function, call_site, sp, context);
    struct found found = hidden_begin(t);
    if (UNLIKELY(!bare_fits(t, sp, found))) return enter_other(function, call_site, sp, context);
    push(function, call_site, sp, context, found);
}

BARE_EXITS(stack, 1)

FATHOM_WITHOUT_HOOKS_END
