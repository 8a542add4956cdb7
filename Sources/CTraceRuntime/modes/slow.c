// Options leave calls out, or the clock is a system call.

#include "../filter/filter.h"
#include "../follow/aside.h"
#include "../follow/follow.h"
#include "../follow/registers.h"
#include "../follow/side.h"
#include "../record/arguments.h"
#include "../record/put.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "../swift/tasks.h"
#include "hooks.h"
#include "provisional.h"
#include "trace.h"

FATHOM_WITHOUT_HOOKS

// ---- told of what is followed

static void settle(struct thread *t, const struct event *event) {
    if (t->hidden_calls) filter_own_hidden(t);
    loading_look(t, event);
    triggers_pull(event);
}

static void begin(struct thread *t, enum begins how) {
    if (how == BEGINS_IN_CHILD) filter_fork(t);
    if (how == BEGINS_RUNNING) filter_start(t);
    trace_begins(t, how);
}

// Writes into the chunk what was left out of the innermost call, which has a record.
static void tell_dropped(struct thread *t) {
    struct writer *w = writer_of(t);
    struct filter_frame *filter = filter_of(t, t->top);
    filter_count(filter->dropped);
    while (filter->dropped && (w->cursor < w->limit || chunk_make_room(t)))
        w->cursor = provisional_put_dropped(w->cursor, filter);
    filter->dropped = filter->dropped_ticks = 0;
}

// Tells what was left out as far as that is possible, and counts the rest: the open calls may never end.
static void tell_all(struct thread *t) {
    if (t->top->function && !filter_is_hidden(t->top)) tell_dropped(t);
    filter_count_all(t);
}

static void end(struct thread *t, enum ends how, uint64_t now) {
    if (how == ENDS_ABANDONED) filter_mend(t);
    if (how == ENDS_STOPPED) {
        tell_all(t);
        filter_stop(t);
    }
    if (how == ENDS_PROCESS) {
        filter_own_hidden(t);
        if (writer_of(t)->chunk) tell_all(t);
        else filter_count_all(t);
    }
    trace_ends(t, how, now);
}

// A function that is asked for begins: its callers get the records that were put off until now, with the times at which
// they began. Nothing else was recorded since. Those that a fork's child has inherited are listed by a new chunk.
static void tell_deferred(struct thread *t) {
    struct writer *w = writer_of(t);
    struct frame *first = filter_first_deferred(t);
    int has_inherited = 0;
    if (!first) return;
    for (struct frame *f = first; f <= t->top; f++) {
        if (!filter_is_deferred(filter_of(t, f)) || !(f->stack_pointer & FRAME_INHERITED)) continue;
        filter_keep(t, f);
        has_inherited = 1;
    }
    if (has_inherited) {
        if (w->chunk) chunk_finish(t, t->last);
        if (!w->gap) w->gap = GAP_PATH;
    }
    for (struct frame *f = first; f <= t->top; f++) {
        if (!filter_is_deferred(filter_of(t, f))) continue;
        uint64_t when = f->enter;
        int has_room = put_room(t, &when);
        filter_keep(t, f);
        BARRIER();
        if (has_room) put_enter(t, f, when);
        else chunk_lose_call(t);
    }
    chunk_publish(t);
}

static void pull(struct thread *t, uint32_t does, uintptr_t function, uint64_t now) {
    if (does & FATHOM_TRIGGER_MARK) {
        uint32_t name = functions_mark(function);
        struct told mark = told_of(FATHOM_MARK, &name, sizeof name, 0);
        trace_tell(t, &mark, now);
    }
    if (!(does & FATHOM_TRIGGER_SAVE)) return;
    if (runtime.modules_stale) modules_scan(LOADER_NOW);
    t->mode->end(t, ENDS_FOR_NOW, now);
    metadata_finish();
    requests_save();
}

static int asks_for_arguments(uintptr_t function) {
    return named_functions.says & FATHOM_SAYS_ARGUMENTS && functions_say(function) & FATHOM_SAYS_ARGUMENTS;
}

// The answer says what becomes of the call, and whether there is room for its record.
#define HAS_ROOM 256

static int before_enter(struct thread *t, struct frame *call, uint64_t *now) {
    // The frames may have been moved, to make room for the call.
    struct writer *w = writer_of(t);
    w->pending = frames_find(running_lane(t), w->pending - 1) + 1;
    uint32_t does = triggers_of(call->function);
    if (does & (FATHOM_TRIGGER_MARK | FATHOM_TRIGGER_SAVE)) pull(t, does, call->function, *now);
    int becomes = filter_begins(t, call, task_piece_begins(t->top, call));
    if (becomes & BECOMES_HIT) tell_deferred(t);
    if (!(becomes & BECOMES_LEFT_OUT)) {
        int has_room = trace_before_enter(t, call, now);
        if (has_room && asks_for_arguments(call->function)) has_room = put_room_for(t, FATHOM_ARGUMENTS_LIMIT, now);
        return becomes | (has_room ? HAS_ROOM : 0);
    }
    call->stack_pointer |= FRAME_HIDDEN;
    if (!(becomes & BECOMES_DEFERRED)) t->hidden_calls++;
    return becomes;
}

static void told_enter(struct thread *t, int answer, const struct event *event, uint64_t now) {
    struct writer *w = writer_of(t);
    filter_began(t, answer & ~HAS_ROOM);
    if (answer & BECOMES_LEFT_OUT) return;
    uint64_t last = t->last, base = w->function_base;
    char *record = w->cursor;
    if (answer & HAS_ROOM) {
        if (task_piece_begins(t->top - 1, t->top)) task_put(t, event->call.context);
        put_enter(t, t->top, now);
        if (asks_for_arguments(event->call.function)) conditions_note(t, t->top, arguments_put(t, event));
    }
    if (answer & HAS_ROOM && t->min_cost && !(answer & BECOMES_TURN))
        provisional_begin(t, last, base, (uint32_t)(w->cursor - record));
    else chunk_publish(t);
}

enum { LEFT_OUT, NO_ROOM, ROOM };

static int before_exit(struct thread *t, uint64_t *now) {
    if (filter_is_hidden(t->top) || provisional_leave_out(t, t->top, *now)) return LEFT_OUT;
    tell_dropped(t);
    return put_room(t, now) ? ROOM : NO_ROOM;
}

// The record of a result stands in front of the call's end. A handler that jumps away in between leaves a result of a
// call that did not return.
static int before_result(struct thread *t, const struct event *event, uint64_t *now) {
    uintptr_t function = t->top->function;
    int answer = before_exit(t, now);
    if (answer != ROOM || !(named_functions.says & FATHOM_SAYS_RESULTS & functions_say(function))) return answer;
    if (!put_more_room(t, FATHOM_ARGUMENTS_LIMIT, now)) return NO_ROOM;
    arguments_put_result(t, function, event);
    return ROOM;
}

// The call that was the innermost one has ended.
static void end_call(struct thread *t, int answer) {
    filter_end_call(t, t->top + 1);
    if (answer != LEFT_OUT) chunk_publish(t);
    else provisional_end_hidden(writer_of(t), t->top);
}

// A call has ended, and its record is written.
INTERNAL void look(const struct thread *t, const struct frame *call, uint64_t now) {
    long_call_look(t, call, now);
    conditions_look(t, call, now);
}

static void told_exit(struct thread *t, int answer, uint64_t now) {
    if (answer == ROOM) put_exit(t, now);
    end_call(t, answer);
    if (answer != LEFT_OUT) look(t, t->top + 1, now);
}

// What the options left out below a call is told before the call ends, so only one call ends at a time.
static int before_unwind(struct thread *t, uint32_t *count, uint64_t *now) {
    *count = 1;
    if (filter_is_hidden(t->top)) return LEFT_OUT;
    tell_dropped(t);
    return put_room(t, now) ? ROOM : NO_ROOM;
}

static void told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now) {
    if (answer == ROOM) put_unwind(t, count, now);
    end_call(t, answer);
    (void)count;
    if (answer != LEFT_OUT) look(t, t->top + 1, now);
}

// While calls wait for one that would give them records, those below them do not tell of memory: the calls would seem
// to begin later.
static void tell(struct thread *t, const struct told *told, uint64_t now) {
    if (told->terms & TOLD_OF_CALL && (!t->top->function || filter_is_hidden(t->top))) return;
    if (told->terms & TOLD_OF_MEMORY && filter_first_deferred(t)) return;
    trace_tell(t, told, now);
}

const struct mode slow_mode = {
    .settle = settle,
    .begin = begin,
    .end = end,
    .fork = chunk_forget,
    .before_enter = before_enter,
    .enter = told_enter,
    .before_exit = before_exit,
    .before_result = before_result,
    .exit = told_exit,
    .before_unwind = before_unwind,
    .unwind = told_unwind,
    .before_lane = trace_before_lane,
    .lane = trace_lane,
    .tell = tell,
    .lost = trace_lost,
#ifdef FATHOM_VALID
    .is_valid = chunk_is_valid,
#endif
};

// ---- hooks

// The number of calls left out of one call that its exit can tell of without the slow path.
#define DROPPED_LIMIT 65536u

INTERNAL void begin_hook(struct thread *t, uintptr_t sp) {
    t->idle = 0;
    t->hook_sp = sp;
    BARRIER();
}

INTERNAL void end_hook(struct thread *t, uint64_t idle) {
    BARRIER();
    t->idle = idle;
    BARRIER();
    if (UNLIKELY(t->side_count)) aside_busy_end();
}

// The thread is busy.
SLOW void enter_slow(uintptr_t function, uintptr_t call_site);
SAVING_REGISTERS("enter_slow", "enter_slow_saved", THIRD_ARGUMENT);
__attribute__((used)) SLOW void enter_slow_saved(uintptr_t function, uintptr_t call_site,
                                                 const struct registers *registers) {
    aside_busy_hook_saved(function, call_site, current.hook_sp, 0, now_ticks(), HOOK_ENTER, registers);
}
static SLOW void exit_slow(void) {
    struct thread *t = &current;
    if (t->hidden_calls) filter_own_hidden(t);
    ending_by_exit(t, now_ticks());
    BARRIER();
    side_drain(t);
}

// Calls that nothing tells of yet, and nobody has counted. From so many on, they are counted, because a thread that
// never gets to a slow path may be there when the process ends.
#define UNCOUNTED_LIMIT 4096u

// Whether a function has a say in what becomes of its calls, or may have: libraries are being loaded.
INTERNAL int has_say(const struct thread *t, uintptr_t function) {
    return ((functions_say(function) & t->looks_for) | loading_threads) != 0;
}

// A call whose function says nothing, and which the options leave out.
INTERNAL void enter_hidden(struct thread *t, uintptr_t function, uintptr_t call_site) {
    struct frame *call = t->top + 1;
    int is_deferred = call < t->deferred_until;
    *call = (struct frame){{is_deferred ? fathom_counter() : 0}, function, call_site, t->hook_sp | FRAME_HIDDEN};
    if (is_deferred) filter_of(t, call)->taken = FILTER_DEFERRED;
    BARRIER();
    t->top = call;
    if (is_deferred) return;
    if (UNLIKELY(++t->hidden_calls >= UNCOUNTED_LIMIT)) filter_own_hidden(t);
}

void slow_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t settled) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    uint64_t idle = t->idle;
    begin_hook(t, sp);
    if (UNLIKELY(t->timed != settled || t->side_count)) return enter_slow(function, call_site);
    struct frame *top = t->top;
    if (t->looks_for && top + 1 >= t->left_out_from) {
        if (UNLIKELY(has_say(t, function))) return enter_slow(function, call_site);
        enter_hidden(t, function, call_site);
        return end_hook(t, idle);
    }
    // The counter is read first: reading it waits for what comes before, and what comes behind goes on meanwhile.
    uint64_t now = fathom_counter(), last = t->last, delta = now - last;
    if (t->looks_for) {
        if (UNLIKELY(has_say(t, function) || filter_is_hidden(top))) return enter_slow(function, call_site);
        if (UNLIKELY(t->hidden_calls)) filter_own_hidden(t);
    }
    uint32_t site = fathom_site_field(call_site, top->function, top->call_site);
    char *record = w->cursor;
    if (UNLIKELY(site == FATHOM_SITE_FAR || function >> 32 != w->function_base || record >= w->limit ||
                 delta > FATHOM_TIME_LIMIT))
        return enter_slow(function, call_site);
    char *cursor = fathom_put_enter(fathom_put_delta(record, &delta), function, delta, site);
    top[1] = (struct frame){{now}, function, call_site, t->hook_sp};
    t->top = top + 1;
    t->last = now;
    w->calls++;
    w->cursor = cursor;
    if (t->min_cost) provisional_begin(t, last, w->function_base, (uint32_t)(cursor - record));
    else provisional_publish(w, top + 1);
    end_hook(t, idle);
}

void slow_exit(uintptr_t sp, uint64_t settled) {
    struct thread *t = &current;
    struct writer *w = writer_of(t);
    uint64_t idle = t->idle;
    begin_hook(t, sp);
    if (UNLIKELY(t->timed != settled || t->side_count)) return exit_slow();
    struct frame *call = t->top;
    struct filter_frame *filter = filter_of(t, call);
    if (UNLIKELY(filter_turned(filter))) return exit_slow();
    if (UNLIKELY(filter_is_hidden(call))) {
        filter_end_hidden(t, call);
        t->top = call - 1;
        provisional_end_hidden(w, call - 1);
        return end_hook(t, idle);
    }
    uint64_t now = fathom_counter();
    if (t->hidden_calls) {
        filter->dropped += t->hidden_calls;
        t->hidden_calls = 0;
    }
    if (provisional_leave_out(t, call, now)) {
        t->top = call - 1;
        return end_hook(t, idle);
    }
    uint64_t delta = now - t->last;
    if (UNLIKELY(w->cursor >= w->limit || delta > FATHOM_TIME_LIMIT || filter->dropped >= DROPPED_LIMIT))
        return exit_slow();
    char *cursor = w->cursor;
    t->top = call - 1;
    BARRIER();
    if (filter->dropped) {
        filter_count(filter->dropped);
        cursor = provisional_put_dropped(cursor, filter);
    }
    cursor = fathom_put_delta(cursor, &delta);
    w->cursor = fathom_put_exit(cursor, delta);
    t->last = now;
    provisional_publish(w, call - 1);
    look(t, call, now);
    end_hook(t, idle);
}

FATHOM_WITHOUT_HOOKS_END
