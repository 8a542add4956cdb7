// What a thread knows: its lanes, the calls open there, and which of them is the innermost.

#ifndef FATHOM_THREAD_H
#define FATHOM_THREAD_H

#include "../host/runtime.h"
#include "event.h"
#include "lane.h"

// thread.state.
//
//                first hook   attach           a handler that interrupted     last round of TLS   fork, in the child,
//                             done, failed     a hook forks, in the child     destructors         between hooks
//   UNATTACHED   ATTACHING    -                -                              -                   UNATTACHED
//   ATTACHING    -            ATTACHED or      -                              -                   UNATTACHED
//                             LATE, UNATTACHED
//   ATTACHED     -            -                INTERRUPTED                    UNATTACHED          UNATTACHED
//   INTERRUPTED  ATTACHING, when the   -             INTERRUPTED              -                      UNATTACHED
//                interrupted hook has
//                ended
//   LATE         -            -                -                              -                   UNATTACHED
//
// Detaching from the process makes each thread UNATTACHED that is in no hook. A LATE thread also becomes UNATTACHED
// when its calls have ended. A thread that is confining itself is ATTACHING meanwhile, so that its hooks do nothing.
enum {
    THREAD_UNATTACHED,
    THREAD_ATTACHING,
    THREAD_ATTACHED,
    THREAD_INTERRUPTED,  // a fork's child whose handler interrupted a hook that is still to return
    // It was attached again after its last TLS destructor. It never becomes idle, and detaches when its calls have
    // ended, because nothing would tell of its end.
    THREAD_LATE,
};

// thread.paused says what the thread knows of the process's stops, starts and options.
//
//              recording was   was started  its options changed, and there is
//              stopped                      no memory for what they take
//   NOT        STOPPED         -            NO_MEMORY
//   STOPPED    -               NOT          NO_MEMORY
//   NO_MEMORY: each slow path tries again. When there is memory, this becomes STOPPED or NOT, as the process is.
enum {
    PAUSED_NOT,
    PAUSED_STOPPED,    // recording is stopped: its calls are followed, and nothing is told of them
    PAUSED_NO_MEMORY,  // it cannot record by the options there are now: its calls are told as lost
};

struct mode;
struct side_event;

#define WRITER_SIZE 176u
#define PATHS_SIZE 192u

struct thread {
    // When `idle` is not 0, the thread is attached and outside the runtime. A hook that finds it 0, or finds side
    // events waiting, must not touch the rest, which belongs to the hook that a signal handler interrupted. `idle` and
    // `side_count` are loaded one by one, as they are stored, because one wider load would have to wait until the
    // narrower store has left the store buffer. `idle` is the control word that the thread has last acted on: a hook
    // that finds control.word the same knows that nothing has changed. Or it is IDLE, with which hooks always have to
    // ask. The hooks of RECORDING_MODES only test whether it is 0.
    uint64_t idle;
    uint32_t side_count;
    struct frame *top;  // innermost open call
    struct frame *end;  // of the running lane's frames
    uint64_t last;      // ticks of the last record, or of the chunk's beginning; no later record is earlier
    uintptr_t low;      // of the running lane's stack
    uintptr_t hook_sp;  // stack pointer at the hook that made the thread busy
    uint32_t closings;  // runtime.sled_closings as it was when the thread last looked
    uint32_t ends;      // of closed functions, that may pass until somebody looks whether their sleds can be closed

    // These are for the hooks in modes other than MODE_TRACE.
    struct frame *hidden_from;  // calls from here on are followed and leave no record: too deep, or stopped; whatever
                                // their functions are
    union {
        uint64_t hidden_calls;  // hidden calls that were entered and are not yet counted elsewhere
        uint64_t call_number;   // MODE_STACK: of the call that was entered last
    };
    uint64_t settled;   // how often the slow paths have been through
    uint64_t timed;     // the same where times are read from the CPU's counter; 0: a system call tells them
    intptr_t beside;    // from a frame to what is beside it, in bytes
    uint64_t min_cost;  // of calls that begin now, in ticks
    // Where functions have a say in it. Calls from left_out_from on leave no record unless their functions, or what
    // they call, say otherwise; hidden_from is not below it. Calls from there up to deferred_until may get one later.
    uint32_t looks_for;  // what functions may say now, FATHOM_SAYS_*; 0: nothing, whatever they are
    struct frame *left_out_from, *deferred_until;
    struct options options;  // that the thread records by

    // What the room record keeps of the thread: its struct writer.
    uint64_t writer[WRITER_SIZE / sizeof(uint64_t)];

    // What the room record keeps of the thread's call paths: its struct paths.
    uint64_t paths[PATHS_SIZE / sizeof(uint64_t)];

    // No fast path touches what follows.
    const struct mode *mode;  // what is told of the calls; NULL before the first attach
    uint32_t state;           // THREAD_*
    uint32_t serial;          // in the process; 0 before the first attach
    uint32_t id;              // kernel's
    uint32_t exit_rounds;     // how often the TLS destructor ran
    uint32_t forked;          // it came through a fork and has not attached since; its lanes are still the parent's
    uint64_t retry;           // lost calls until attaching is tried again
    struct lane *lanes;
    uint32_t lane;  // index of the running one; lane 0 is the thread's own stack
    uint32_t lane_count, lane_capacity;
    uint32_t lane_change;  // index + 1 of the lane that is being taken up
    struct side_event *side;
    uint64_t side_lost;    // open calls of handlers that the side buffer had no room for
    uint64_t overflow;     // open calls that found no room on the stack of calls
    uint32_t next_lane;    // id
    void *memory;          // the thread's first mapping, MEMORY_SIZE bytes: lanes, side events, first frames
    uint32_t paused;       // PAUSED_*
    uint32_t stamp;        // runtime.stamp as it was when the thread last did as the process
    uint32_t saves;        // the same of runtime.saves
    uint32_t stops;        // the same of runtime.stops
    uint32_t untold;       // nothing tells of its end: where it is listed, + 1 (follow/roster.h)
    uintptr_t loading_sp;  // it has called dlopen, whose frame lies above; 0: not, or it knows that dlopen has returned
};
#define IDLE 1u  // a word in which no mode is
#define MEMORY_SIZE (128ul * 1024)
#define FIRST_LANES 16u
#define RETRY_CALLS 1024u  // lost calls between two attempts to attach the thread, or to get a slot

extern __thread struct thread current __attribute__((tls_model("initial-exec"), visibility("hidden")));

INTERNAL int is_free(const struct thread *t) { return t->idle && !t->side_count; }
INTERNAL struct lane *running_lane(struct thread *t) { return &t->lanes[t->lane]; }
// The innermost open call of any lane.
INTERNAL struct frame *top_of(const struct thread *t, const struct lane *lane) {
    return lane == &t->lanes[t->lane] ? t->top : lane->top;
}
INTERNAL uint32_t open_calls(struct thread *t) { return (uint32_t)(t->top - running_lane(t)->frames); }

// Whether this is a function's call, and neither a named scope nor the sentinel. Only such a call can end at an exit
// hook that does not say whose exit it is; a scope's stack pointer is its function's own.
INTERNAL int is_function(const struct frame *call) { return call->function - 1 < FATHOM_SCOPE_BASE - 1; }

// Whether a stack pointer is on the running lane's stack and not above `frame`. If `frame` is on a signal stack that
// lies below the lane's stack, it suffices that the stack pointer is not above `frame`. As a rule two comparisons are
// enough.
INTERNAL int lies_below(const struct thread *t, uintptr_t stack_pointer, const struct frame *frame) {
    if (stack_pointer > frame->stack_pointer) return 0;
    if (LIKELY(stack_pointer >= t->low)) return 1;
    BARRIER();  // so that the hooks need no registers to keep what was compared
    return frame->stack_pointer < t->low;
}

// Whether an exit hook at `stack_pointer` belongs to the call on top of the stack, as far as addresses tell. When the
// hook is called, the function's frame lies below its callers' frames and above everything that is dead. When it is
// jumped to, that frame is gone, and the same holds for the caller's frame.
INTERNAL const struct frame *exit_bound(const struct frame *top, int is_jumped_to) {
    return is_jumped_to ? top - 1 : top;
}
INTERNAL int exit_fits(const struct thread *t, const struct frame *top, uintptr_t stack_pointer, int is_jumped_to) {
    return lies_below(t, stack_pointer, exit_bound(top, is_jumped_to));
}

// thread.hook_sp of a sled. A function's end may lie behind its frame's, so the sled's own frame tells which jumps
// leave it: it is smaller than this, and below it begin those of handlers.
INTERNAL uintptr_t sled_hook_sp(uintptr_t stack_pointer) { return stack_pointer - 512; }

int thread_attach(struct thread *t, uintptr_t stack_pointer);
void thread_detach(struct thread *t);
// For whoever has stopped all threads: the thread whose thread pointer is this; whether it is in the midst of something
// here; and makes it one that has never been here, with what it has recorded given to the recorder.
struct thread *thread_at(uintptr_t thread_pointer);
int thread_is_inside(const struct thread *t);
void thread_leave(struct thread *t);
void thread_key_create(void);
// This is a fork's child, and the thread is the one that forked.
void thread_fork(struct thread *t);

// Whether what is known of a thread can be. Asked at every slow path, at notes, and where a thread ends or forgets its
// calls, of a library that is built with FATHOM_VALID defined, which tests do: it ends the program where something
// cannot.

#ifdef FATHOM_VALID
int thread_is_valid(struct thread *t);
// Ends the program if the thread's state is not valid.
void thread_expect_valid(struct thread *t);
#else
INTERNAL void thread_expect_valid(struct thread *t) { (void)t; }
#endif

#endif
