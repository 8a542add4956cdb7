// Each thread shows the recorder the path that it is in, and the recorder looks at an interval. No clock is read. What
// the slow paths tell is what they tell in `profile`.
//
// As with calls that leave no record (follow/hidden.h), the hooks do not mark the thread as busy: a call is pushed by one
// store, and its path is shown by one.

#include "../follow/aside.h"
#include "../follow/hidden.h"
#include "../record/paths.h"
#include "hooks.h"
#include "profile.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

// A handler may have come between the push and the count, so the hooks of handlers mend what is left to mend.
static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    call->stack_pointer |= FRAME_HIDDEN;
    return profile_before_enter(t, call, now);
}

static void told_enter(struct thread *t, int answer, uintptr_t context, uint64_t now) {
    (void)answer, (void)context, (void)now;
    struct path *path = paths_of(t)->entering;
    t->top->path = path;
    BARRIER();
    paths_show(t);
}

static void told_exit(struct thread *t, int answer, uint64_t now) {
    (void)answer, (void)now;
    paths_show(t);
}

static void told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    (void)answer, (void)count, (void)now;
    paths_show(t);
}

static void told_lane(struct thread *t) {
    paths_lane(t);
    paths_show(t);
}

static void begin(struct thread *t, enum begins how) {
    paths_begin(t, how);
    paths_show(t);
}

static void end(struct thread *t, enum ends how, uint64_t now) {
    if (how != ENDS_FOR_NOW && how != ENDS_ABANDONED) paths_show_none(t);
    paths_end(t, how, now);
    if (how == ENDS_ABANDONED) paths_show(t);
}

const struct mode stack_mode = {
    .settle = profile_settle,
    .begin = begin,
    .end = end,
    .fork = paths_fork,
    .before_enter = before_enter,
    .enter = told_enter,
    .before_exit = profile_before_exit,
    .exit = told_exit,
    .before_unwind = profile_before_unwind,
    .unwind = told_unwind,
    .before_lane = profile_before_lane,
    .lane = told_lane,
    .moment = profile_moment,
    .lost = profile_lost,
    PROFILE_IS_VALID};

// ---- hooks

#define NEXT __attribute__((noinline)) static

// A handler came in between.
__attribute__((noinline, cold)) static void mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context,
                            struct frame *caller) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), caller), *call = caller + 1;
    if (t->top != call) {  // the frames were moved after the push, and the call with them
        paths_show(t);
        return;
    }
    // The call is there, and a later start of recording, or a fork, found it open, so that it counts as inherited.
    if (place == caller && (call->stack_pointer & ~FRAME_FLAGS) == sp && call->stack_pointer & FRAME_INHERITED) return;
    t->top = place;
    aside_enter(function, call_site, sp, context);
    paths_show(t);
}

INTERNAL void push(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, struct found found,
                   struct path *path) {
    struct thread *t = &current;
    struct frame *call = found.top + 1;
    uintptr_t place = sp + FRAME_HIDDEN;
    call->function = function;
    call->call_site = call_site;
    call->stack_pointer = place;
    call->path = path;
    BARRIER();
    ONCE(t->top) = call;
    BARRIER();
    if (UNLIKELY(t->settled != found.settled || call->stack_pointer != place || call->path != path))
        return mend_enter(function, call_site, sp, context, found.top);
    show_path(t, path);
}

INTERNAL int can_push(const struct thread *t, uintptr_t sp, struct found found) {
    return found.top + 1 < t->end && lies_below(t, sp, found.top);
}

NEXT void enter_other(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    struct found found = hidden_begin(t);
    struct path *path = NULL;
    if (LIKELY(is_ready(t) && can_push(t, sp, found))) path = paths_find_callee(t, found.top->path, function);
    if (UNLIKELY(!path)) return aside_enter(function, call_site, sp, context);
    push(function, call_site, sp, context, found, path);
}

void stack_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return aside_enter(function, call_site, sp, context);
    struct found found = hidden_begin(t);
    struct path *path = found.top->path->child;
    if (UNLIKELY(path->function != function || !can_push(t, sp, found)))
        return enter_other(function, call_site, sp, context);
    push(function, call_site, sp, context, found, path);
}

INTERNAL void leave(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any) {
    struct thread *t = &current;
    struct found found = hidden_begin(t);
    if (UNLIKELY(!is_ready(t) || (is_any ? !is_function(found.top) : found.top->function != function) ||
                 !exit_fits(t, found.top, sp, return_address == call_site)))
        return aside_exit(function, call_site, sp, return_address);
    ONCE(t->top) = found.top - 1;
    BARRIER();
    show_path(t, found.top[-1].path);
    BARRIER();
    if (LIKELY(t->settled == found.settled)) return;
    hidden_mend_exit(function, call_site, sp, return_address, found.top);
    paths_show(t);
}

void stack_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    leave(function, call_site, sp, return_address, 0);
}

void stack_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    leave(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1);
}

FATHOM_WITHOUT_HOOKS_END
