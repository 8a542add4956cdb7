// Calls are counted by their paths, and no clock is read. What the slow paths tell is what they tell in `profile`.
//
// As with calls that leave no record (modes/bare.h), the hooks do not mark the thread as busy: a call is pushed by
// one store, and counted by one instruction.

#include "../follow/aside.h"
#include "../record/paths.h"
#include "bare.h"
#include "hooks.h"
#include "profile.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

// A handler may have come between the push and the count, so the hooks of handlers mend what is left to mend.
static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    call->stack_pointer |= FRAME_HIDDEN;
    return profile_before_enter(t, call, now);
}

static void told_enter(struct thread *t, int answer, const struct event *event, uint64_t now) {
    (void)answer, (void)event, (void)now;
    struct path *path = paths_of(t)->entering;
    t->top->path = path;
    BARRIER();
    path->sums->calls++;
}

static void told_exit(struct thread *t, int answer, uint64_t now) { (void)t, (void)answer, (void)now; }

static void told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    (void)t, (void)answer, (void)count, (void)now;
}

const struct mode counts_mode = {.settle = profile_settle,
                                 .begin = paths_begin,
                                 .end = paths_end,
                                 .fork = paths_fork,
                                 .before_enter = before_enter,
                                 .enter = told_enter,
                                 .before_exit = profile_before_exit,
                                 .exit = told_exit,
                                 .before_unwind = profile_before_unwind,
                                 .unwind = told_unwind,
                                 .before_lane = profile_before_lane,
                                 .lane = paths_lane,
                                 .lost = profile_lost,
                                 PROFILE_IS_VALID};

// ---- hooks

// One instruction, so that a handler that counts a call of the same path comes before or after it. Relaxed: it is a
// count, and says nothing about anything else.
INTERNAL void count_call(struct path *path) {
#if defined(__x86_64__)
    __asm__ __volatile__("incq %0" : "+m"(path->sums->calls));
#else
    __atomic_fetch_add(&path->sums->calls, 1, __ATOMIC_RELAXED);
#endif
}

// A handler came in between.
__attribute__((noinline, cold)) static void mend_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp,
                                                       struct frame *caller) {
    struct thread *t = &current;
    struct frame *place = frames_find(running_lane(t), caller), *call = caller + 1;
    if (t->top != call) {  // the frames were moved after the push, and the call with them
        count_call(t->top->path);
        return;
    }
    // The call is there, and a later start of recording, or a fork, found it open, so that it counts as inherited.
    if (place == caller && (call->stack_pointer & ~FRAME_FLAGS) == sp && call->stack_pointer & FRAME_INHERITED) return;
    t->top = place;
    aside_enter(function, call_site, sp, 0);
}

INTERNAL void push(uintptr_t function, uintptr_t call_site, uintptr_t sp, struct found found, struct path *path) {
    uint64_t word = (uintptr_t)path;
    if (UNLIKELY(!hidden_push(function, call_site, sp, found, &word)))
        return mend_enter(function, call_site, sp, found.top);
    count_call(path);
}

// Another callee than the last ones begins, or something that only the slow path can follow. Nothing is recorded for
// which the context would be needed.
NEXT void enter_other(uintptr_t function, uintptr_t call_site, uintptr_t sp, struct found found) {
    struct path *path = NULL;
    if (LIKELY(bare_can_push(&current, sp, found))) path = paths_find_callee(&current, found.top->path, function);
    if (UNLIKELY(!path)) return aside_enter(function, call_site, sp, 0);
    push(function, call_site, sp, found, path);
}

void counts_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    if (UNLIKELY(!is_ready(t))) return aside_enter(function, call_site, sp, context);
    struct found found = hidden_begin(t);
    struct path *path = paths_guess(found.top->path, function);
    if (UNLIKELY(path->function != function || !bare_fits(t, sp, found)))
        return enter_other(function, call_site, sp, found);
    push(function, call_site, sp, found, path);
}

BARE_EXITS(counts, 0)

FATHOM_WITHOUT_HOOKS_END
