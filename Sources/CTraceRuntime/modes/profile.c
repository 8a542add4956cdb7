// Calls are added up by their paths while the program runs, and no record of a call is kept. Times are read from the
// CPU's counter. This file has the fast path and what the slow paths tell.

#include "profile.h"

#include "../follow/aside.h"
#include "../record/paths.h"
#include "hooks.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

void profile_settle(struct thread *t, const struct event *event) {
    (void)event;
    t->hidden_calls = 0;
}

int profile_before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    (void)now;
    paths_of(t)->entering = paths_enter(t, call->function);
    return 0;
}

void profile_told_enter(struct thread *t, int answer, const struct event *event, uint64_t now) {
    (void)answer, (void)event;
    struct path *path = paths_of(t)->entering;
    t->top->path = path;
    BARRIER();
    path_open(path, now);
}

int profile_before_exit(struct thread *t, uint64_t *now) {
    (void)t, (void)now;
    return 0;
}

// The call has been taken off the stack, and its frame is still there.
void profile_told_exit(struct thread *t, int answer, uint64_t now) {
    (void)answer;
    paths_close(t, t->top[1].path, now);
}

int profile_before_unwind(struct thread *t, uint32_t *count, uint64_t *now) {
    (void)t, (void)count, (void)now;
    return 0;
}

void profile_told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    (void)answer;
    for (struct frame *call = t->top + count; call > t->top; call--) paths_close(t, call->path, now);
}

void profile_before_lane(struct thread *t) { (void)t; }

void profile_lost(struct thread *t, enum hook hook) {
    // Relaxed: it is a count, and says nothing about anything else.
    if (hook == HOOK_ENTER && t->state != THREAD_INTERRUPTED)
        __atomic_fetch_add(&runtime.buffers->unplaced_calls, 1, __ATOMIC_RELAXED);
}

const struct mode profile_mode = {PROFILE_TABLE};

// ---- hooks

INTERNAL void end_hook(struct thread *t, uint64_t idle) {
    BARRIER();
    t->idle = idle;
    BARRIER();
    if (UNLIKELY(t->side_count)) aside_busy_end();
}

INTERNAL void push(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, struct path *path,
                   uint64_t now) {
    struct frame *call = t->top + 1;
    call->function = function;
    call->call_site = call_site;
    call->stack_pointer = sp;
    call->path = path;
    t->top = call;
    BARRIER();
    path_open(path, now);
}

// Whether the thread knows the mode and the options. `idle` is what it has last acted on. Relaxed: the thread took over
// the options under the lock, when it learnt of this word.
INTERNAL int is_current(uint64_t idle) { return idle == __atomic_load_n(&control.word, __ATOMIC_RELAXED); }

// Another callee than the last one begins, or something that only the slow path can follow. The thread is busy.
NEXT void enter_other(uintptr_t function, uintptr_t call_site, uint64_t now, uint64_t idle) {
    struct thread *t = &current;
    struct frame *top = t->top;
    struct path *path = NULL;
    if (is_current(idle) && top + 1 < t->end && lies_below(t, t->hook_sp, top))
        path = paths_find_callee(t, top->path, function);
    if (UNLIKELY(!path)) return aside_busy_hook(function, call_site, t->hook_sp, 0, now, HOOK_ENTER);
    push(t, function, call_site, t->hook_sp, path, now);
    end_hook(t, idle);
}

void profile_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    struct thread *t = &current;
    uint64_t idle = t->idle;
    if (UNLIKELY(!idle || t->side_count)) return aside_enter(function, call_site, sp, context);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    struct frame *top = t->top;
    // Calls that began while recording was stopped have no path yet, so this comes before any path is looked at.
    if (UNLIKELY(!is_current(idle))) return enter_other(function, call_site, now, idle);
    struct path *path = paths_guess(top->path, function);
    if (UNLIKELY(path->function != function || top + 1 >= t->end || !lies_below(t, sp, top)))
        return enter_other(function, call_site, now, idle);
    push(t, function, call_site, sp, path, now);
    end_hook(t, idle);
}

// A call has ended that is inherited, one of its path's first, or one that nothing is kept of. The thread is busy.
NEXT void close_other(struct path *path, uint64_t now, uint64_t idle) {
    struct thread *t = &current;
    paths_close(t, path, now);
    end_hook(t, idle);
}

// The duration of an earlier call is an unusual one. The thread is busy.
NEXT void count_other(struct path *path, uint64_t ticks, uint64_t idle) {
    struct thread *t = &current;
    paths_count(t, path, ticks);
    end_hook(t, idle);
}

// `is_any` is a constant: the hook does not say what its function is, and `function` is ANY_FUNCTION.
INTERNAL void leave(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address, int is_any) {
    struct thread *t = &current;
    uint64_t idle = t->idle;
    if (UNLIKELY(!idle || t->side_count)) return aside_exit(function, call_site, sp, return_address);
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
    uint64_t now = fathom_counter();
    BARRIER();
    struct frame *top = t->top;
    if (UNLIKELY((is_any ? !is_function(top) : top->function != function) || !is_current(idle) ||
                 !exit_fits(t, top, sp, return_address == call_site)))
        return aside_busy_hook(function, call_site, sp, 0, now, hook_of_exit(call_site, return_address));
    struct path *path = top->path;
    uint64_t moment = path->sums->moment;
    t->top = top - 1;
    BARRIER();
    if (UNLIKELY((moment & (FATHOM_PATH_OPEN | FATHOM_PATH_INHERITED)) != FATHOM_PATH_OPEN || path->base == NO_BASE))
        return close_other(path, now, idle);
    struct paths *p = paths_of(t);
    struct path *ended = p->ended;
    uint64_t ended_ticks = p->ended_ticks, ticks = now - (moment >> FATHOM_PATH_SHIFT);
    p->ended = path;
    p->ended_ticks = ticks;
    path->sums->moment = now << FATHOM_PATH_SHIFT;
    path_add(path, ticks);
    if (UNLIKELY(!path_count(ended, ended_ticks))) return count_other(ended, ended_ticks, idle);
    end_hook(t, idle);
}

void profile_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    leave(function, call_site, sp, return_address, 0);
}

void profile_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function, (void)call_site;
    leave(ANY_FUNCTION, NO_CALL_SITE, sp, NO_RETURN_ADDRESS, 1);
}

FATHOM_WITHOUT_HOOKS_END
