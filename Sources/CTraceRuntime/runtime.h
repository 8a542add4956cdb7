// What the parts of the runtime share. Data first:
//
//   control   one page, wiped by the kernel in a fork's child; every hook tests it first
//   runtime   one per process: the session's buffers, as mapped here, and the process's metadata chunk
//   thread    one per thread, in its TLS: the stack of open calls and the chunk being written
//   lane      one per stack a thread runs on: its own, and each coroutine's
//
// Layering: hooks -> record -> (thread, lane) -> chunk -> process -> session -> system. Nothing calls upwards except
// the slow paths, which hooks enter with the thread marked busy, so that a signal handler's hooks go to the side
// buffer and never re-enter them.

#ifndef FATHOM_RUNTIME_H
#define FATHOM_RUNTIME_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "CTraceFormat.h"
#include "CTraceRuntime.h"
#include "system.h"

#define EXPORT __attribute__((visibility("default"), no_instrument_function))
#define SLOW __attribute__((noinline, cold, visibility("hidden")))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define BARRIER() __atomic_signal_fence(__ATOMIC_SEQ_CST)

// The stack pointer of the caller at its call of this hook. clang's __builtin_dwarf_cfa gives another value on aarch64.
#if defined(__aarch64__) && defined(__clang__)
#define CALLER_STACK_POINTER() ((uintptr_t)__builtin_sponentry())
#else
#define CALLER_STACK_POINTER() ((uintptr_t)__builtin_dwarf_cfa())
#endif

// ---- control -----------------------------------------------------------------------------------------------------

#define MODE_UNKNOWN 0u  // not started yet, or a fork's child that has not hooked yet
#define MODE_TRACE 1u    // every call is recorded, times are read from the CPU's counter: the fast path
#define MODE_SLOW 2u     // options leave calls out, or the clock is a system call
#define MODE_OFF 3u      // nothing to record into
#define MODE_PAUSED 4u   // stopped: open calls are followed, nothing is recorded

union control {
    struct {
        uint32_t mode;        // MODE_*; the hooks' machine code compares it
        uint32_t generation;  // of the options that the mode goes with
    };
    uint64_t word;  // both
    char page[PAGE_SIZE];
};
extern union control control __attribute__((visibility("hidden")));

INTERNAL uint64_t control_word(uint32_t mode, uint32_t generation) { return (uint64_t)generation << 32 | mode; }

// ---- thread ------------------------------------------------------------------------------------------------------

// An open call. The low bits of stack_pointer, which is aligned to 8, hold the flags.
struct frame {
    uintptr_t function;
    uintptr_t call_site;
    uintptr_t stack_pointer;  // of the function at its enter hook
    uint64_t enter;           // ticks
};
#define FRAME_ALTERNATE 1ul  // the outermost call on a signal stack: below it are calls on another one
#define FRAME_HIDDEN 2ul     // it has no record: left out by max_depth, or recording is stopped
#define FRAME_INHERITED 4ul  // entered by the parent process, before a fork, or before recording was started
#define FRAME_FLAGS 7ul

// What MODE_SLOW keeps beside each frame: what was left out below the call, and what it takes to take its record back.
// Beside frames that are not in use, `dropped` and `dropped_ticks` are 0; the others hold only while the record may be
// taken back.
struct filter_frame {
    uint64_t dropped;        // callees left out
    uint64_t dropped_ticks;  // of those that were too short; the time of those too deep is not known
    uint64_t last;           // thread.last before its ENTER; of a piece of a task: what `pieces` was before it
    // Its ENTER's bytes, specials included, and below them thread.function_base before it; or FILTER_PIECE.
    uint64_t taken;
};
#define FILTER_PIECE UINT64_MAX

// An event of a signal handler that interrupted a hook.
struct side_event {
    uintptr_t function;
    uintptr_t call_site;
    uintptr_t stack_pointer;
    uint64_t ticks;
    uint64_t hook;  // HOOK_*
};
#define HOOK_ENTER 0u
#define HOOK_EXIT 1u
#define HOOK_LANDING 3u  // no hook: control landed in the frame at stack_pointer
#define HOOK_TAIL 2u  // an exit hook that was jumped to when the frame was gone already: optimising compilers do that
#define HOOK_SCOPE_END 4u  // no hook: the innermost named scope ends
#define HOOK_MARK 5u       // these end no call: a mark, whose name is `function`
#define HOOK_COUNTER 6u    // a counter's value, the bits of which are `call_site`
#define HOOK_SAVE 7u       // the chunk is to be finished
#define HOOK_SETTLE 8u     // recording was stopped
#define SIDE_LIMIT 1024u
// In place of the function of an exit hook that does not say whose exit it is: the stack pointer tells.
#define ANY_FUNCTION 1ul

// A stack that calls of a lane run on while a signal handler does.
struct signal_stack {
    uint32_t first;  // index in `frames` of the outermost call on it
    uintptr_t low, high;
};
#define SIGNAL_STACKS 4u  // one interrupting the other

// A stack and the calls open on it. frames[0] is a sentinel: no function, stack_pointer the upper bound.
struct lane {
    uint32_t id;
    uint32_t exact;       // the bounds were told, not guessed
    uint32_t has_top;     // `high` is, at least
    uint32_t is_stale;    // recording was stopped and started since records last told of its calls
    uintptr_t low, high;  // the stack's bounds; guessed ones are widened as they are learnt
    struct frame *frames;
    struct frame *top;             // valid while the lane is not running
    struct frame *end;             // one past the last frame there is room for
    struct filter_frame *filters;  // parallel to frames; MODE_SLOW only
    uint32_t pieces;               // calls open where the innermost piece of a task began: max_depth counts from there
    size_t mapped;                 // bytes of the frames' own mapping; 0: they live in the thread's first one
    struct signal_stack signal_stacks[SIGNAL_STACKS];  // that the innermost calls run on, outermost first
    uint32_t signal_stack_count;                       // calls on the last of them may have ended
    // The function that has the coroutine's stack inside its frame: its lane's id + 1, 0 if it is not known; its index
    // there; its stack pointer.
    uint32_t owner, owner_frame;
    uintptr_t owner_sp;
    const void *link;  // the coroutine's uc_link
    struct frame *outgrown;        // where they were before, for a hook that was interrupted meanwhile; NULL: nowhere
};

// Calls of the running lane that run on one stack: none if `last` is before `first`.
struct stretch {
    struct frame *first, *last;
    int is_signals;
};

INTERNAL uintptr_t frame_sp(const struct frame *frame) { return frame->stack_pointer & ~FRAME_FLAGS; }
// Whether the stack pointer of a function that has called another is on a stack. Its lowest address it never is: there
// a function's frame ends that has the stack inside.
INTERNAL int lies_on(uintptr_t sp, uintptr_t low, uintptr_t high) { return sp - low - 1 < high - low; }

#define THREAD_UNATTACHED 0u
#define THREAD_ATTACHING 1u
#define THREAD_ATTACHED 2u
// A fork's child whose handler interrupted a hook that is still to return.
#define THREAD_INTERRUPTED 3u
// Attached again after its last TLS destructor: it never becomes idle, and detaches when its calls have ended, because
// nothing would tell of its end.
#define THREAD_LATE 4u

struct thread {
    // Not 0: the thread is attached and outside the runtime. A hook that finds it not so, or side events waiting, must
    // not touch the rest: it belongs to a signal handler that interrupted another. Two loads of the width of their
    // stores: one wider load would have to wait for the narrow store to leave the store buffer. In MODE_SLOW and
    // MODE_PAUSED it is the control word with which hooks need not ask what has changed, or IDLE: they always have to.
    uint64_t idle;
    uint32_t side_count;
    struct frame *top;  // innermost open call
    struct frame *end;  // of the running lane's frames
    char *cursor;       // where the next record goes
    char *limit;        // records may start below this; RECORD_ROOM bytes are left behind it
    uint64_t last;      // ticks of the last record
    uintptr_t low;      // of the running lane's stack
    uint64_t function_base;
    uintptr_t hook_sp;  // stack pointer at the hook that made the thread busy
    struct fathom_chunk *chunk;
    uint64_t calls;  // ENTER records in this chunk

    // Of the hooks in other modes than MODE_TRACE.
    struct frame *hidden_from;  // calls from here on are followed and leave no record: too deep, or stopped
    struct frame *pending;      // calls from here on have an ENTER that may be taken back, the last things in the chunk
    uint64_t hidden_calls;      // entered from hidden_from on that no filter frame tells of yet
    uint64_t settled;           // how often the slow paths have been through
    uint64_t timed;             // the same where times are read from the CPU's counter; 0: a system call tells them
    intptr_t filters;           // from a frame to its filter, in bytes
    uint64_t min_cost_ticks;    // 0: all calls are long enough

    // Not touched by any fast path.
    uint32_t state;        // THREAD_*
    uint32_t serial;       // in the process; 0 before the first attach
    uint32_t id;           // kernel's
    uint32_t exit_rounds;  // how often the TLS destructor ran
    uint32_t forked;       // it came through a fork and has not hooked since; its lanes are still the parent's
    uint32_t slot;
    char *slot_end;     // of the chunk's whole slot; limit may be below
    uint64_t sequence;  // of the next chunk
    uint64_t finished;  // ticks when the previous chunk was finished
    uint64_t lost;      // calls without record since then
    uint64_t orphans;   // exits without call since then
    uint64_t retry;     // lost calls left before asking for a slot again
    uint32_t gap;       // GAP_*: why the next chunk does not go on where the previous one ended
    struct lane *lanes;
    uint32_t lane;  // index of the running one; lane 0 is the thread's own stack
    uint32_t lane_count, lane_capacity;
    uint32_t lane_change;  // index + 1 of the lane that is being taken up
    struct side_event *side;
    uint64_t side_lost;     // open calls of handlers that the side buffer had no room for
    char *wanted_limit;     // not NULL: limit was taken away to have modules_scan called at the next hook
    uint32_t look;          // bytes of records until modules_scan is called again; 0: it is not
    uint64_t overflow;      // open calls that found no room on the stack of calls
    uint32_t next_lane;     // id
    void *memory;           // the thread's first mapping, MEMORY_SIZE bytes: lanes, side events, first frames
    uint32_t fork_starts;   // it is `runtime.starter` while it forks
    uint64_t fork_signals;  // blocked before that
    uint32_t forker;        // process id of whoever forked last in this thread
    uint32_t paused;        // PAUSED_*
    // The options it records by, as of `generation`.
    uint32_t generation;
    uint32_t max_depth;
    uint32_t slow;      // frames have filters
    char name[16];            // given by the program; empty: the kernel's
    struct {
        uint32_t begun;
        uint32_t state, mode;  // of the thread, and control's, before it
        uint64_t idle, ticks;
    } confinement;  // while the program asks for one
    uintptr_t async_context;  // the register that Swift passes it in, at the enter hook that made the thread busy
};
#define FIRST_LOOK 8u
#define LAST_LOOK (1u << 20)
#define IDLE 0xffu  // no MODE_*
#define GAP_LOST 1u          // records were dropped
#define GAP_PATH 2u          // recording was started
#define PAUSED_STOPPED 1u    // recording is stopped, as far as the thread has seen
#define PAUSED_NO_MEMORY 2u  // it cannot record by the options there are now
#define MEMORY_SIZE (128ul * 1024)
#define FIRST_LANES 16u
#define RETRY_CALLS 1024u  // lost calls between two attempts to get a slot
#define PATH_LIMIT                                                                                                     \
    256u  // calls that a chunk's open call path lists: more would crowd out the records of deep recursion
#define PATH_ROOM 8192u   // more than a chunk's header and path take
#define RECORD_ROOM 128u  // more than the largest run of records written at once

extern __thread struct thread current __attribute__((tls_model("initial-exec"), visibility("hidden")));

INTERNAL int is_free(const struct thread *t) { return t->idle && !t->side_count; }
INTERNAL struct lane *running_lane(struct thread *t) { return &t->lanes[t->lane]; }
INTERNAL uint32_t open_calls(struct thread *t) { return (uint32_t)(t->top - running_lane(t)->frames); }
// Those that have a record.
uint32_t recorded_calls(struct thread *t);

// ---- runtime -----------------------------------------------------------------------------------------------------

#define STATE_NEW 0u
#define STATE_OPEN 1u    // buffers mapped
#define STATE_READY 2u   // and the process registered
#define STATE_FORKED 3u  // this is a fork's child that is not registered yet
#define STATE_OFF 4u

#define PATH_SIZE 4096u

struct runtime {
    uint64_t starter;  // who changes `state` for another than STATE_FORKED: process id << 32 | thread id; 0: nobody
    uint32_t state;    // STATE_*
    uint32_t pid;
    uint32_t process;
    uint32_t forker;  // process id of a fork's parent, whether that is recorded or not
    uint64_t start_ticks;
    uint32_t thread_count;
    struct fathom_buffers *buffers;
    uint32_t *words;
    uint32_t slots_offset;
    uint32_t slot_size;
    uint32_t slot_limit;
    uint32_t window_slots;  // slots mapped at once
    uint64_t inode;         // of the buffers file
    uint64_t min_cost_ticks;
    uint32_t max_depth;
    uint32_t clock;
    uintptr_t stack_top;  // of the main thread's stack; 0 before the constructor has run
    uint32_t seccomp_mode;  // of the process when it joined the recording, as prctl tells; not 0: it says nothing later
    uint32_t slow;        // MODE_SLOW is the mode to run in; never taken back: threads may have filters
    // Of start and stop.
    uint32_t control_lock;
    uint32_t paused;
    uint32_t generation;  // of max_depth, min_cost_ticks and slow
    uint64_t stop_ticks;  // when recording was last stopped
    uint64_t ticks_per_second;
    // Metadata chunk.
    uint32_t metadata_lock;
    uint32_t modules_lock;
    uint32_t modules_stale;  // a library may have been loaded, or be in the midst of it, since the last scan
    uint32_t metadata_slot;
    uint64_t metadata_sequence;
    struct fathom_chunk *metadata;
    char *metadata_end;
    // The program's arguments, and its environment, as they lie in memory one behind the other, as much as a title
    // takes; NULL before the constructor has run.
    const char *arguments, *arguments_end, *environment_end;
    char path[PATH_SIZE];  // of the buffers
    char *windows[FATHOM_SLOT_LIMIT];
};
extern struct runtime runtime __attribute__((visibility("hidden")));

INTERNAL uint64_t now_ticks(void) {
    if (__builtin_expect(runtime.clock == FATHOM_CLOCK_COUNTER, 1)) return fathom_counter();
    return system_monotonic_ns();
}

// Takes a lock of the process; returns the signals to give it back with. They stay blocked as long: a handler's hook
// would wait for it for ever.
INTERNAL uint64_t lock_take(uint32_t *lock) {
    uint64_t signals = system_block_signals();
    for (uint32_t tries = 0; !fathom_swap32(lock, 0, 1); tries++) system_wait(tries);
    return signals;
}
INTERNAL void lock_give(uint32_t *lock, uint64_t signals) {
    fathom_store32(lock, 0);
    system_restore_signals(signals);
}

// session.c: the buffers. `environment` is the process's, or NULL when nobody knows it yet.
int session_open(char **environment);
// Takes a slot and populates its first `size` bytes. NULL when there is none or the file system is full.
struct fathom_chunk *session_take_slot(size_t size, uint32_t *slot);
void session_give_slot(uint32_t slot);

// environment.c
void environment_keep(char **environment);  // as the process was started with it

// process.c
int runtime_ready(void);  // makes it so when it can; whether there is something to record into
// Whether the process records, and is not vfork's child running on the parent's memory.
int runtime_records(void);

// confine.c: programs that forbid themselves what the runtime needs.
uint32_t confine_mode(void);
// Whether the program has confined itself by a system call that nobody noted; ends the recording if so. To be asked
// before other system calls. Filters that end a program for prctl as well cannot be survived.
int confine_unnoted(void);

// metadata.c
void metadata_process(uint32_t parent_process);
void metadata_arguments(int count, char **arguments, char **environment);  // where titles are written
void metadata_title(void);  // tells what the process calls itself when that has changed; signal handlers may call it
void metadata_end(uint32_t how);
// The same without system calls; nothing if there is no room, which metadata_reserve_end makes, or the lock is taken.
void metadata_end_quietly(uint32_t how, uint64_t now);
void metadata_reserve_end(void);
void metadata_finish(void);  // gives the chunk to the recorder
// Appends one item; `parts` are laid end to end after the header. Drops it when there is no room to be had.
struct part {
    const void *bytes;
    size_t size;
};
// The part that an item's structure makes: what stands behind its leading header, which metadata_append writes.
#define ITEM_BODY(item)                                                                                                \
    { (const char *)&(item) + sizeof(struct fathom_item), sizeof(item) - sizeof(struct fathom_item) }
void metadata_append(uint16_t kind, const struct part *parts, size_t count);

// modules.c
void modules_scan(void);  // writes what has changed since the last time
// Whether each address lies in a module, as of the last scan. O(addresses × modules).
int modules_hold(const uintptr_t *addresses, uint32_t count);

// Takes a slot's old header out of readers' sight before the new one is written: what follows does not pass it.
INTERNAL void chunk_hide(struct fathom_chunk *chunk) {
    __atomic_store_n(&chunk->magic, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

// chunk.c. `now` is in ticks.
void chunk_finish(struct thread *t, uint64_t now);
void chunk_give_back(struct thread *t);  // finishes the calling thread's, if it has one and is not in a hook
void chunk_lose_call(struct thread *t);  // counts a call that leaves no record
int chunk_make_room(struct thread *t);   // after cursor reached limit; 0 when records cannot be kept

// thread.c
int thread_attach(struct thread *t, uintptr_t stack_pointer);
void thread_detach(struct thread *t);
void thread_key_create(void);
int frames_grow(struct thread *t);                       // 0 when there is no memory
int frames_filter(struct thread *t, struct lane *lane);  // gives them filters; 0 when there is no memory
void frames_free(struct lane *lane);
// Where a frame is now that was found before others were put in the place of the lane's frames.
struct frame *frames_find(const struct lane *lane, struct frame *frame);

// stack.c: which stack an address is on.
int stack_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high);  // the mapping that holds it; 0: unknown
// Whether the address is on the signal stack that the kernel would use now.
int stack_of_signals(uintptr_t stack_pointer, uintptr_t *low, uintptr_t *high);
// A lane other than the running one that has calls on that signal stack, and the outermost of them. 0 if there is none.
int stack_find_signals(struct thread *t, uintptr_t low, uintptr_t high, struct lane **lane, struct frame **first);
void stack_begin_signals(struct thread *t, uintptr_t low, uintptr_t high);  // from the next call on
// The lane whose calls run on the stack that holds an address, NULL if it is none that is known. May close lanes.
// *is_signals: it is a signal stack. O(lanes).
struct lane *stack_find(struct thread *t, uintptr_t stack_pointer, int *is_signals);
void stack_begin_coroutine(struct thread *t, struct lane *lane);  // notes whose frame its stack is inside, if any
// The running lane's calls on the stack that holds an address; its own if that is no known signal stack.
struct stretch stack_stretch(struct thread *t, uintptr_t stack_pointer);

// lane.c: which stack is running.
// Makes the running lane the one that `stack_pointer` lies on. Returns FRAME_ALTERNATE if that is a signal stack which no
// open call runs on, else 0.
uintptr_t lane_settle(struct thread *t, uintptr_t stack_pointer);
// 0 when there is no memory.
int lane_init(const struct thread *t, struct lane *lane, uint32_t id, uintptr_t low, uintptr_t high);
void lane_run(struct thread *t, struct lane *lane);
void lane_finish_change(struct thread *t);  // after a jump left lane_run half-way
// Ends all calls of a lane whose stack is gone and forgets it. Not the running one, not lane 0.
void lane_close(struct thread *t, struct lane *gone);
// Control landed in a frame at `stack_pointer`, on whatever stack that is.
void lane_land(struct thread *t, uintptr_t stack_pointer, uint64_t now);

// A function's call: no named scope, not the sentinel. Only that can be what ends at an exit hook that does not say
// whose it is; a scope's stack pointer is its function's own.
INTERNAL int is_function(const struct frame *call) { return call->function - 1 < FATHOM_SCOPE_BASE - 1; }

// Whether an exit hook at `stack_pointer` belongs to the call on top of the stack, as far as addresses tell. An exit
// hook that is called has the function's frame below its callers' and above whatever is dead; one that is jumped to has
// the caller's.
INTERNAL int exit_fits(const struct thread *t, const struct frame *top, uintptr_t stack_pointer, uint64_t hook) {
    const struct frame *bound = hook == HOOK_TAIL ? top - 1 : top;
    return stack_pointer - t->low <= bound->stack_pointer - t->low;
}

// record.c: the slow paths. The thread is attached and busy.
void record_enter(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now);
void record_exit(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now,
                 uint64_t hook);
void record_exit_top(struct thread *t, uint64_t now);  // of the innermost call
// Ends the innermost `count` calls without their exit hook.
void record_unwind(struct thread *t, uint32_t count, uint64_t now);
// Ends the calls in frames below `stack_pointer`, and those of signal handlers that interrupted what is above it. Returns
// the calls on that stack as they were.
struct stretch record_landing(struct thread *t, uintptr_t stack_pointer, uint64_t now);
void record_lane(struct thread *t);
void record_scope_end(struct thread *t, uintptr_t stack_pointer, uint64_t now);
void record_mark(struct thread *t, uint32_t name, uintptr_t stack_pointer, uint64_t now);
void record_counter(struct thread *t, uint32_t name, uint64_t bits, uintptr_t stack_pointer, uint64_t now);
int record_make_room(struct thread *t, uint64_t *now);  // 0 when no record can be written

// Appends to the chunk; room is there. Readers see it when it is published.
void put_special(struct thread *t, uint16_t special, const void *payload, size_t size);
// Publishes all that is in the chunk: none of it is taken back from here on.
void record_publish(struct thread *t);

// Finds out whether recording was stopped or started. The thread is busy.
void pause_settle(struct thread *t);
// Takes over the options of the process; those of a thread without frames.
void pause_take_options(struct thread *t);

// control.c: what programs call by fathom.h.
void control_set_mode(void);  // to that of a process that can record; the caller holds the lock, or is alone

// names.c: what the program calls its scopes, marks and counters.
uint32_t name_intern(uint32_t kind, const char *text);  // its id; async-signal-safe

// hooks.c: what is not the fast path's. Any thread in any state may come here.
SLOW void hook_aside(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context,
                     uint64_t hook);
// The same for a thread that the hook has made busy.
SLOW void hook_slow(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now, uint64_t hook);

// What the hooks go on with, by mode. Only their machine code names these.
#define HOOK __attribute__((used, visibility("hidden")))
HOOK void trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);
HOOK void trace_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void trace_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void aside_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);
HOOK void aside_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void aside_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void paused_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void paused_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void paused_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);
HOOK void slow_enter(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t context);
HOOK void slow_exit(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uintptr_t return_address);
HOOK void slow_exit_any(uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer);

// tasks.c: Swift's.
// Where the library is that runs tasks, or what does in the product.
struct task_code {
    uintptr_t low, size;
};
extern struct task_code task_code __attribute__((visibility("hidden")));
// Whether the call that begins is a piece of a task: called by the library that runs tasks.
int task_piece_begins(const struct thread *t, uintptr_t call_site, uintptr_t stack_pointer);
// Says whose piece begins, if a task runs. Room is there.
void task_put(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t context);

// filter.c: what the options leave out. The thread has filters, unless it is said.
INTERNAL struct filter_frame *filter_of(const struct thread *t, struct frame *call) {
    return (struct filter_frame *)((char *)call + t->filters);
}
// Makes the hooks of MODE_SLOW and MODE_PAUSED fit what the thread knows. Returns what `idle` is to be.
uint64_t filter_settle(struct thread *t);
int filter_hides_next(struct thread *t);  // whether the options leave out the next call
// Gives what was left out since the last time to the call that it was left out of.
void filter_own_hidden(struct thread *t);
// The innermost call has just got its record, of `size` bytes, which nobody knows of yet, at another time and base.
void filter_announce(struct thread *t, uint64_t last, uint64_t function_base, uint32_t size);
// The innermost call, which is recorded, ends: whether it is too short, and so was left out, its record taken back.
int filter_leaves_out(struct thread *t, uint64_t now);
// Puts into the chunk what was left out of the innermost call, which is recorded.
void filter_tell_dropped(struct thread *t);
void filter_begin_piece(struct thread *t);                       // the innermost call is a piece of a task
void filter_end_call(struct thread *t, struct frame *call);      // any, of the running lane
void filter_tell_all(struct thread *t);  // counts what was left out of all open calls, which may never end
void filter_stop(struct thread *t);      // recording is stopped
void filter_start(struct lane *lane, struct frame *call, uint32_t max_depth);  // the call is open when it is started
void filter_fork(struct thread *t);  // a fork's child: what was left out so far is the parent's to tell

// Gives a fork's child a private copy of the slot, for a hook that was writing into it when the handler forked.
void session_shadow_slot(uint32_t slot);

// side.c: hooks of a signal handler that interrupted a hook, kept until that one is through.
void side_append(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook);
// Makes the thread idle again and records what handlers left until nothing is left.
void side_drain(struct thread *t);
// Records one event; the thread is attached and busy.
void record_event(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now, uint64_t hook);
// The handler that interrupted a hook never returns to it (siglongjmp): make the thread usable again.
void side_abandon(struct thread *t);

#endif
