// A stack that a thread runs on, and the calls open there.

#ifndef FATHOM_LANE_H
#define FATHOM_LANE_H

#include "../host/base.h"

struct path;

// An open call. The low bits of stack_pointer, which is aligned to 8, hold the flags.
struct frame {
    union {
        uint64_t enter;     // ticks; also in modes that keep no times here, while the call is told of
        struct path *path;  // in modes that add up call paths
        uint64_t shown;     // in modes that show the recorder what is open: fathom_open_word (CTraceStack.h)
    };
    uintptr_t function;
    uintptr_t call_site;
    uintptr_t stack_pointer;  // of the function at its enter hook
};
#define FRAME_ALTERNATE 1ul  // the outermost call on a signal stack: below it are calls on another one
#define FRAME_HIDDEN 2ul     // it has no record: left out by max_depth, or recording is stopped
#define FRAME_INHERITED 4ul  // entered by the parent process, before a fork, or before recording was started
#define FRAME_FLAGS 7ul

// How the calls that are open on a lane affect calls that begin there: filters, limits of depth and cost. A call that
// changes it keeps what it was before (filter/filter.h). It is all 0 where no call is open.
union reach {
    struct {
        uint64_t base : 27;     // open calls that max_depth does not count: it counts from the call behind them
        uint64_t hit : 27;      // index of the innermost open hit; 0: none
        uint64_t inside : 1;    // a call is open whose function is one of those asked for
        uint64_t without : 1;   // the call at `base` is open, and nothing that it calls is recorded
        uint64_t depth : 4;     // index + 1 of the limit that holds in place of max_depth; 0: none does
        uint64_t min_cost : 4;  // the same in place of the minimum cost
    };
    uint64_t word;
};
_Static_assert(FATHOM_DEPTH_LIMIT < 1u << 27, "an index of an open call fits");

// Where the options need it, each frame has as much memory again beside it, for what the code in filter/ keeps of the
// call. That memory is 0 until something is stored there.
#define BESIDE_SIZE sizeof(struct frame)

// A signal stack that some of a lane's calls run on while a signal handler runs.
struct signal_stack {
    uint32_t first;  // index in `frames` of the outermost call on it
    uintptr_t low, high;
};
#define SIGNAL_STACKS 4u  // one interrupting the other

// A stack and the calls open on it. frames[0] is a sentinel: it has no function, and its stack_pointer is the upper
// bound.
struct lane {
    uint32_t id;
    uint32_t exact;       // the bounds were told, not guessed
    uint32_t has_top;     // at least `high` was told
    uint32_t is_stale;    // recording was stopped and started since records last told of its calls
    uintptr_t low, high;  // the stack's bounds; guessed ones are widened as they are learnt
    struct frame *frames;
    struct frame *top;  // valid while the lane is not running
    struct frame *end;  // one past the last element of `frames`
    char *beside;       // what is beside the frames, in their order; NULL: nothing
    union reach reach;  // of the calls open here
    size_t mapped;      // bytes of the frames' own mapping; 0: they live in the thread's first one
    struct signal_stack signal_stacks[SIGNAL_STACKS];  // that the innermost calls run on, outermost first
    uint32_t signal_stack_count;                       // calls on the last of them may have ended
    // The call whose frame the coroutine's stack lies in: the id of its lane + 1, or 0 when that is not known; its
    // index there; and the call itself, because another call may come to take its place.
    uint32_t owner, owner_frame;
    struct frame owner_call;
    const void *link;        // the coroutine's uc_link
    struct frame *outgrown;  // where they were before, for a hook that was interrupted meanwhile; NULL: nowhere
};

INTERNAL uintptr_t frame_sp(const struct frame *frame) { return frame->stack_pointer & ~FRAME_FLAGS; }
// Whether the stack pointer of a function that has called another one is on a stack. It is never the stack's lowest
// address: that is where the frame of a function ends that has the stack inside it.
INTERNAL int lies_on(uintptr_t sp, uintptr_t low, uintptr_t high) { return sp - low - 1 < high - low; }

struct thread;

// Makes room for `count` frames, in place of those that the lane has, and with `slow`, beside them too. 0 when there is
// no memory.
int frames_allocate(struct lane *lane, size_t count, uint32_t slow);
int frames_grow(struct thread *t);                      // 0 when there is no memory
int frames_widen(struct thread *t, struct lane *lane);  // makes room beside them; 0 when there is no memory
void frames_free(struct lane *lane);
// Where a frame is now, when other frames may have taken the place of the lane's since it was found.
struct frame *frames_find(const struct lane *lane, struct frame *frame);
// Makes the hooks of MODE_SLOW and MODE_PAUSED agree with what the thread knows. Returns what `idle` is to be.
uint64_t frames_settle(struct thread *t);

// Makes the lane that `stack_pointer` lies on the running one. Returns FRAME_ALTERNATE if that is a signal stack which
// no open call runs on, and otherwise 0.
uintptr_t lane_settle(struct thread *t, uintptr_t stack_pointer);
// 0 when there is no memory.
int lane_init(const struct thread *t, struct lane *lane, uint32_t id, uintptr_t low, uintptr_t high);
struct lane *lane_add(struct thread *t, uintptr_t low, uintptr_t high);  // NULL when there is no memory
void lane_run(struct thread *t, struct lane *lane);
void lane_finish_change(struct thread *t);  // after a jump left lane_run half-way
// Ends all calls of a lane whose stack is gone, and forgets the lane. It is neither the running one nor lane 0.
void lane_close(struct thread *t, struct lane *gone);
// The lane whose calls run on the stack that holds an address; NULL if no lane is known to. This may close lanes.
// *is_signals says whether it is a signal stack. O(lanes).
struct lane *lane_find(struct thread *t, uintptr_t stack_pointer, int *is_signals);

#endif
