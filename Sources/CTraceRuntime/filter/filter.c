// What was left out is counted in the innermost caller that has a record, with its time where that was measured. Calls
// that are left out for their depth or their function are not timed.

#include "filter.h"

#include "../host/runtime.h"
#include "../session/functions.h"
#include "../session/modules.h"

FATHOM_WITHOUT_HOOKS

static struct filter_frame *first_of(const struct lane *lane) { return (struct filter_frame *)lane->beside; }

void filter_own_hidden(struct thread *t) {
    uint64_t calls = t->hidden_calls;
    t->hidden_calls = 0;
    if (!calls || !t->options.slow || t->paused) return;
    struct frame *owner = t->top < t->hidden_from ? t->top : t->hidden_from - 1;
    if (owner->function) filter_of(t, owner)->dropped += calls;
    else filter_count(calls);
}

void filter_end_call(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call);
    int is_turn = filter_turned(filter);
    if (is_turn) filter->taken = filter->taken == FILTER_BOTH ? FILTER_DEFERRED : 0;
    if (filter_is_hidden(call)) filter_end_hidden(t, call);
    filter->dropped = filter->dropped_ticks = 0;
    if (!is_turn) return;
    running_lane(t)->reach.word = filter->last;
    frames_settle(t);
}

void filter_count_all(struct thread *t) {
    for (struct lane *lane = t->lanes; lane < t->lanes + t->lane_count; lane++) {
        struct filter_frame *filter = first_of(lane);
        for (struct frame *f = lane->frames; f <= top_of(t, lane); f++, filter++) {
            filter_count(filter->dropped + (filter_is_deferred(filter) && !(f->stack_pointer & FRAME_INHERITED)));
            filter->dropped = filter->dropped_ticks = 0;
        }
    }
}

void filter_fork(struct thread *t) {
    t->hidden_calls = 0;
    for (struct lane *lane = t->lanes; t->options.slow && lane < t->lanes + t->lane_count; lane++) {
        for (struct filter_frame *f = first_of(lane); f <= first_of(lane) + (top_of(t, lane) - lane->frames); f++)
            f->dropped = f->dropped_ticks = 0;
    }
}

uint32_t triggers_of(uintptr_t function) {
    const struct fathom_trigger *trigger = named_functions.does ? functions_trigger(functions_say(function)) : NULL;
    return trigger ? trigger->does : 0;
}

void triggers_pull(const struct event *event) {
    if (!named_functions.does || !event || event->hook != HOOK_ENTER) return;
    uint32_t does = triggers_of(event->call.function);
    if (does & FATHOM_TRIGGER_START) runtime_start();
    if (does & FATHOM_TRIGGER_STOP) runtime_stop();
}

// How long libraries take to be mapped at most. A thread that has called dlopen may make no call any more that tells
// that dlopen has returned, and until this time is over, the hooks of all others take a microsecond.
#define PATIENCE 1000000000u  // ns

uint32_t loading_threads;
static uint64_t deadline;

void loading_begin(struct thread *t, uintptr_t sp) {
    if (!named_functions.says || t->loading_sp) return;
    // Relaxed: a deadline that is read too early or too late changes little.
    __atomic_store_n(&deadline, system_monotonic_ns() + PATIENCE, __ATOMIC_RELAXED);
    t->loading_sp = sp;
    fathom_add32(&loading_threads, 1);
}

void loading_look(struct thread *t, const struct event *event) {
    if (!fathom_load32(&loading_threads) || !event || event->hook != HOOK_ENTER) return;
    // What dlopen calls lies below its frame, and what its caller calls next does not.
    int has_returned = t->loading_sp && event->stack_pointer > t->loading_sp;
    int is_late = system_monotonic_ns() > __atomic_load_n(&deadline, __ATOMIC_RELAXED);
    if (has_returned || is_late || !modules_hold(&event->call.function, 1)) {
        if (!modules_scan(LOADER_NOW) && !is_late) return;  // the next call looks again
    }
    if (is_late) fathom_store32(&loading_threads, 0);
    uint32_t threads = fathom_load32(&loading_threads);
    while (has_returned && threads && !fathom_swap32(&loading_threads, threads, threads - 1))
        threads = fathom_load32(&loading_threads);
    if (has_returned || is_late) t->loading_sp = 0;
}

FATHOM_WITHOUT_HOOKS_END
