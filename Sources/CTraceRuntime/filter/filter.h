// These functions decide which calls the options leave out, and keep what is known of the calls left out. They know
// nothing of records. Unless a comment allows any thread, the thread must have memory beside its frames (BESIDE_SIZE).

#ifndef FATHOM_FILTER_H
#define FATHOM_FILTER_H

#include "../follow/event.h"
#include "../follow/thread.h"
#include "../session/functions.h"

// What is beside each frame: what was left out below the call, and what the mode needs to take the call's record back.
// Beside frames that are not in use, `dropped` and `dropped_ticks` are 0, and `taken` is no FILTER_*. The other fields
// hold only while the record may be taken back, or as long as a FILTER_* says.
struct filter_frame {
    uint64_t dropped;        // callees left out
    uint64_t dropped_ticks;  // the time of callees that were too short; the time of all others is not known
    uint64_t last;   // thread.last before the call's ENTER; with FILTER_TURN: the lane's `reach` before the call
    uint64_t taken;  // what the mode notes about the record; or FILTER_*
};
_Static_assert(sizeof(struct filter_frame) == BESIDE_SIZE, "one is as far from the other as the frames are");
// The call has changed the lane's `reach`; it has no record yet, but may get one; or both.
#define FILTER_TURN UINT64_MAX
#define FILTER_DEFERRED (UINT64_MAX - 1)
#define FILTER_BOTH (UINT64_MAX - 2)

INTERNAL struct filter_frame *filter_of(const struct thread *t, struct frame *call) {
    return (struct filter_frame *)((char *)call + t->beside);
}
INTERNAL int filter_turned(const struct filter_frame *filter) {
    return filter->taken == FILTER_TURN || filter->taken == FILTER_BOTH;
}
INTERNAL int filter_is_deferred(const struct filter_frame *filter) {
    return filter->taken == FILTER_DEFERRED || filter->taken == FILTER_BOTH;
}
INTERNAL int filter_is_hidden(const struct frame *call) { return (call->stack_pointer & FRAME_HIDDEN) != 0; }

// What becomes of a call that begins.
enum {
    BECOMES_LEFT_OUT = 1,  // it gets no record
    BECOMES_DEFERRED = 2,  // with LEFT_OUT: it gets its record later, if a function that it leads to is a hit
    BECOMES_TURN = 4,      // it changes the lane's `reach`: below it, other calls are left out than above it
    BECOMES_HIT = 8,       // calls that were deferred get their records now, whether this one gets one or not
};

// Decides what becomes of a call, BECOMES_*, before it becomes the innermost one. With BECOMES_TURN, it has noted the
// lane's new `reach` beside the place of the call.
int filter_begins(struct thread *t, const struct frame *call, int is_piece);
// Applies `becomes` to the call, which is the innermost one now.
void filter_began(struct thread *t, int becomes);
// Notes that a call of the running lane has ended. If it has no record, calls left out below it count as left out of
// its caller.
void filter_end_call(struct thread *t, struct frame *call);
// Returns the outermost deferred call among the open calls that lead to the innermost one; NULL when none is deferred.
struct frame *filter_first_deferred(struct thread *t);
// Turns a deferred call into one that has a record.
void filter_keep(struct thread *t, struct frame *call);

// Counts the calls that were hidden since this was called last as left out of their caller. Any thread may call it.
void filter_own_hidden(struct thread *t);
void filter_count_all(struct thread *t);  // counts the calls left out of all open calls
void filter_stop(struct thread *t);       // call it when recording is stopped
void filter_start(struct thread *t);      // call it when recording is started
void filter_mend(struct thread *t);       // computes `reach` anew from the open calls, after a hook was left half done
// Forgets, in a fork's child, the calls left out so far, because the parent counts them. Any thread may call it.
void filter_fork(struct thread *t);

// ---- for hooks too

// Adds to the process's count at once, because a thread that still runs when the process ends would have no other
// moment to do so. Relaxed: the count says nothing about other memory.
INTERNAL void filter_count(uint64_t calls) {
    if (calls) __atomic_fetch_add(&runtime.buffers->left_out_calls, calls, __ATOMIC_RELAXED);
}

// Returns whether the call, which ends now, is to be left out as too short. Outermost calls stay.
INTERNAL int filter_is_too_short(const struct thread *t, const struct frame *call, uint64_t now) {
    return now - call->enter < t->min_cost && call[-1].function;
}

// Leaves the call out as too short. Calls left out of the call count as left out of its caller from then on.
INTERNAL void filter_drop(struct thread *t, struct frame *call, uint64_t now) {
    struct filter_frame *filter = filter_of(t, call), *caller = filter - 1;
    caller->dropped += 1 + filter->dropped;
    caller->dropped_ticks += now - call->enter;
    filter->dropped = filter->dropped_ticks = 0;
}

// Ends a call without a record that did not change the lane's `reach`.
INTERNAL void filter_end_hidden(struct thread *t, struct frame *call) {
    struct filter_frame *filter = filter_of(t, call), *caller = filter - 1;
    uint64_t dropped = filter->dropped;
    if (filter->taken == FILTER_DEFERRED) {
        filter->taken = 0;
        dropped += !(call->stack_pointer & FRAME_INHERITED);
    }
    if (!dropped) return;
    filter->dropped = 0;
    if (!call[-1].function) return filter_count(dropped);  // no record will hold this count
    caller->dropped += dropped;
    caller->dropped_ticks += filter->dropped_ticks;
    filter->dropped_ticks = 0;
}

// What happens because a call of a function begins.

// Starts or stops recording if that is what the function says whose call begins. `event` may be NULL.
void triggers_pull(const struct event *event);
// What else a function does when a call of it begins, FATHOM_TRIGGER_*.
uint32_t triggers_of(uintptr_t function);

// Finds libraries that are being loaded while options name functions. The functions of a library must be known before
// the first of them is called, but nothing reports that dlopen has returned. So as long as a thread may be inside
// dlopen, all hooks check whether the function that they report is in a known module.

// The number of threads that may be inside dlopen.
extern uint32_t loading_threads __attribute__((visibility("hidden")));

// Notes that the thread calls dlopen, whose caller's frame lies above `stack_pointer`.
void loading_begin(struct thread *t, uintptr_t stack_pointer);
// Finds out whether a module is new, and whether dlopen has returned. A slow path calls this as it begins, with its
// event, which may be NULL.
void loading_look(struct thread *t, const struct event *event);

#endif
