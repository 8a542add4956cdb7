// Recording is stopped. The open calls are followed, so that they are known when recording starts again, and nothing is
// told of them.

#include "../filter/filter.h"
#include "../follow/mode.h"
#include "../record/chunk.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

static void settle(struct thread *t, const struct event *event) {
    t->hidden_calls = 0;
    loading_look(t, event);
    triggers_pull(event);
}

// The mode that records when recording is started again has to know of these.
static void begin(struct thread *t, enum begins how) { mode_for(t, 0)->begin(t, how); }
static void fork_in_child(struct thread *t) { mode_for(t, 0)->fork(t); }

// A thread that ends goes out of what that mode keeps of all threads.
static void end(struct thread *t, enum ends how, uint64_t now) {
    if (how == ENDS_THREAD) mode_for(t, 0)->end(t, ENDS_DETACHED, now);
}

static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    (void)t, (void)now;
    call->stack_pointer |= FRAME_HIDDEN;
    return 0;
}

static void told_enter(struct thread *t, int answer, const struct event *event, uint64_t now) {
    (void)t, (void)answer, (void)event, (void)now;
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

static void lost(struct thread *t, enum hook hook) { (void)t, (void)hook; }

#ifdef FATHOM_VALID
static int is_valid(const struct thread *t) { return !writer_of(t)->chunk; }
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
    .lost = lost,
#ifdef FATHOM_VALID
    .is_valid = is_valid,
#endif
};

FATHOM_WITHOUT_HOOKS_END
