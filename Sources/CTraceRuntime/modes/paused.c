// Recording is stopped. The open calls are followed, so that they are known when recording starts again, and nothing is
// told of them.

#include "../follow/hidden.h"
#include "../follow/mode.h"
#include "hooks.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

static void settle(struct thread *t) { t->hidden_calls = 0; }

// The mode that records when recording is started again has to know of these.
static void begin(struct thread *t, enum begins how) { recording_mode(t)->begin(t, how); }
static void fork_in_child(struct thread *t) { recording_mode(t)->fork(t); }

static void end(struct thread *t, enum ends how, uint64_t now) { (void)t, (void)how, (void)now; }

static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    (void)t, (void)now;
    call->stack_pointer |= FRAME_HIDDEN;
    return 0;
}

static void told_enter(struct thread *t, int answer, uintptr_t context, uint64_t now) {
    (void)t, (void)answer, (void)context, (void)now;
}

static int before_exit(struct thread *t, uint64_t *now) {
    (void)t, (void)now;
    return 0;
}

static void told_exit(struct thread *t, int answer, uint64_t now) { (void)t, (void)answer, (void)now; }

static int before_unwind(struct thread *t, uint32_t *count, uint64_t *now) {
    (void)t, (void)count, (void)now;
    return 0;
}

static void told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    (void)t, (void)answer, (void)count, (void)now;
}

static void lane(struct thread *t) { (void)t; }

static void moment(struct thread *t, enum hook hook, uint32_t name, uint64_t value, uint64_t now) {
    (void)t, (void)hook, (void)name, (void)value, (void)now;
}

static void lost(struct thread *t, enum hook hook) { (void)t, (void)hook; }

#ifdef FATHOM_VALID
static int is_valid(const struct thread *t) { return !t->chunk; }
#endif

const struct mode paused_mode = {
    .settle = settle,
    .begin = begin,
    .end = end,
    .fork = fork_in_child,
    .before_enter = before_enter,
    .enter = told_enter,
    .before_exit = before_exit,
    .exit = told_exit,
    .before_unwind = before_unwind,
    .unwind = told_unwind,
    .before_lane = lane,
    .lane = lane,
    .moment = moment,
    .lost = lost,
#ifdef FATHOM_VALID
    .is_valid = is_valid,
#endif
};

// ---- hooks

// A stopped thread follows its calls, whatever the options are.
INTERNAL int is_stopped(const struct thread *t) { return (uint32_t)t->idle == MODE_PAUSED; }

void paused_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context) {
    (void)context;
    struct thread *t = &current;
    if (UNLIKELY(!is_stopped(t))) return hook_aside(function, call_site, sp, 0, HOOK_ENTER);
    uint64_t settled = ONCE(t->settled);
    struct frame *top = ONCE(t->top);
    if (UNLIKELY(is_on_other_stack(t, top, sp))) return hook_aside(function, call_site, sp, 0, HOOK_ENTER);
    if (UNLIKELY(top + 1 >= t->end)) return hook_aside(function, call_site, sp, 0, HOOK_ENTER);
    hidden_enter(function, call_site, sp, settled, top, 0);
}

INTERNAL void exit_paused(uintptr_t function, uintptr_t call_site, uintptr_t sp, enum hook hook, int is_any) {
    struct thread *t = &current;
    if (UNLIKELY(!is_stopped(t))) return hook_aside(function, call_site, sp, 0, hook);
    uint64_t settled = ONCE(t->settled);
    struct frame *top = ONCE(t->top);
    if (UNLIKELY(!ends(t, top, function, sp, hook, is_any))) return hook_aside(function, call_site, sp, 0, hook);
    hidden_exit(function, call_site, sp, hook, settled, top);
}

void paused_exit(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t return_address) {
    exit_paused(function, call_site, sp, return_address == call_site ? HOOK_TAIL : HOOK_EXIT, 0);
}

void paused_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    (void)function;
    exit_paused(ANY_FUNCTION, call_site, sp, HOOK_EXIT, 1);
}

FATHOM_WITHOUT_HOOKS_END
