// The process: one page that the hooks test, and what all threads share.

#ifndef FATHOM_RUNTIME_H
#define FATHOM_RUNTIME_H

#include "base.h"
#include "locks.h"
#include "modes.h"

// ---- control -----------------------------------------------------------------------------------------------------

// What the hooks test. Their machine code takes `base` from steering.asked, which leaves the mode, if the process has
// taken up the last command. If not, it leaves a number that is no mode. So they load `base` by an ordinary load: an
// aligned word is never torn, and what the fast paths go on with belongs to the thread.
union control {
    struct {
        uint32_t base;        // the number of the command that was taken up last, shifted, less the mode, MODE_*
        uint32_t generation;  // of the options that the mode goes with
    };
    uint64_t word;  // both
    char page[PAGE_SIZE];
};
extern union control control __attribute__((visibility("hidden")));

// What is asked of the process: here is the page of the buffers that begins with a struct fathom_steering, and nobody
// can write to it. Before the session is open, and where the page cannot be here, nothing is asked.
union steering {
    struct fathom_steering asked;
    char page[PAGE_SIZE];
};
extern union steering steering __attribute__((visibility("hidden")));

#define MODE_MASK ((1u << FATHOM_ASKED_SHIFT) - 1)

// The process's mode, MODE_*. Acquire: a thread that sees a mode to record in finds all that was written to `runtime`
// before the mode was set.
INTERNAL uint32_t control_mode(void) { return (0u - fathom_load32(&control.base)) & MODE_MASK; }
INTERNAL uint64_t control_word(uint32_t mode, uint32_t number, uint32_t generation) {
    return (uint64_t)generation << 32 | (uint32_t)(number - mode);
}
// Whether the process has not taken up yet what is asked of it.
INTERNAL int control_is_behind(void) {
    return fathom_load32(&steering.asked.asked) - fathom_load32(&control.base) > MODE_MASK;
}

// ---- runtime -----------------------------------------------------------------------------------------------------

// runtime.state, of the process. It is stored with release and loaded with acquire where another thread may have
// changed it, so that a state is visible only after the buffers are mapped and the process registered. Only one thread
// at a time changes it, `runtime.starter`, except for the states FORKED and OFF.
//
//            session_open  ...fails  first hook    fork, in the child  the program confines itself, or
//                                                                      a fork left a starter behind
//   NEW      OPEN          OFF       (opens first) -                   OFF
//   OPEN     -             -         READY         -                   OFF
//   READY    -             -         -             FORKED              OFF
//   FORKED   -             -         READY         -                   OFF
//   OFF      -             -         -             -                   -
//
// Whoever attaches to a process that is NEW, OPEN or OFF makes it NEW, and goes on from there at once. Detaching leads
// from READY and FORKED to OFF.
enum {
    STATE_NEW,
    STATE_OPEN,    // buffers mapped
    STATE_READY,   // and the process registered
    STATE_FORKED,  // this is a fork's child that is not registered yet
    STATE_OFF,     // it ends here: nothing is recorded in this process any more
};

#define PATH_SIZE 4096u

// What is recorded of calls. Each thread has a copy of what the process has.
struct options {
    uint64_t min_cost_ticks;  // 0: all calls are long enough
    uint32_t max_depth;
    uint32_t slow;        // calls are left out, or the clock is a system call; never taken back
    uint32_t has_ring;    // what was recorded makes room for what is, until somebody wants it saved
    uint32_t keeps;       // FATHOM_KEEPS_*: what of calls
    uint32_t generation;  // of these
    uint32_t number;      // of the last command that was taken up, shifted; see CTraceSteering.h
};

// The mode in which calls are recorded by these options.
#define IF_TAKEN(number, NAME, name, condition, extra) (condition) ? MODE_##NAME:
INTERNAL uint32_t mode_of(const struct options *options, int is_stopped) { return MODES(IF_TAKEN, ) MODE_OFF; }
#undef IF_TAKEN

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
    uint32_t *ring_ends;  // when chunks ended, see fathom_ring_end
    uint32_t slots_offset;
    uint32_t slot_size;
    uint32_t slot_limit;
    uint32_t window_slots;      // slots mapped at once
    uint32_t requests_offset;   // where long calls are told of, in the buffers
    uint32_t has_sleds;         // the process has opened some
    uint32_t can_close;         // some functions can be closed, to keep to the budget
    uint32_t sled_closings;     // how often it has closed all: calls that were open then have not ended
    uint64_t sleds_closed;      // ticks of the last time
    uint32_t closes_functions;  // some functions' sleds were closed while the program ran
    uint64_t inode;             // of the buffers file
    // The head of the buffers as it was when they were opened. Options that nothing changes later are read here.
    struct fathom_buffers head;
    struct options options;
    uint32_t clock;
    uintptr_t stack_top;    // of the main thread's stack; 0 before the constructor has run
    uint32_t seccomp_mode;  // of the process when it joined the recording, by prctl; not 0: shows no later filter
    // For start and stop.
    uint32_t paused;
    uint64_t stop_ticks;  // when recording was last stopped
    uint32_t stamp;       // counts what threads have to take up: stops, starts, and changes of options
    uint32_t saves;       // how often it was asked to save
    // The session is one that others take stretches of, each into a session of its own. So a thread that misses a stop
    // and the start after it ends its chunk all the same.
    uint32_t is_armed;
    uint32_t is_joining;  // somebody attaches, and is to say when the hooks begin
    uint32_t stops;       // how often recording was stopped
    // For commands: the numbers of the last ones of their kinds, and what the process says of itself; NULL: nothing.
    uint32_t run_number, limits_number, save_number, functions_number;
    struct fathom_steered *steered;
    uint64_t ticks_per_second;
    // Metadata chunk.
    uint32_t modules_stale;  // a library may have been loaded, or be in the midst of it, since the last scan
    uint32_t metadata_slot;
    uint64_t metadata_sequence;
    struct fathom_chunk *metadata;
    char *metadata_end;
    // The program's arguments and its environment, one after the other as they lie in memory, as far as a title may
    // reach; NULL before the constructor has run.
    const char *arguments, *arguments_end, *environment_end;
    char path[PATH_SIZE];  // of the buffers
    char *windows[FATHOM_SLOT_LIMIT];
};
extern struct runtime runtime __attribute__((visibility("hidden")));

// Makes the hooks take the mode of a process that can record. The caller holds LOCK_CONTROL, or no other thread
// runs.
void runtime_set_mode(void);
// Start or stop recording, for all threads, if it is not started or stopped already. The caller holds no lock.
void runtime_start(void);
void runtime_stop(void);
// The caller holds LOCK_CONTROL. `ticks` is when recording stopped.
void runtime_set_running(int runs, uint64_t ticks);
// Ends recording in this process. Makes no system call.
void runtime_set_off(void);

INTERNAL uint64_t now_ticks(void) {
    if (__builtin_expect(runtime.clock == FATHOM_CLOCK_COUNTER, 1)) return fathom_counter();
    return system_monotonic_ns();
}

// What a new program image needs to be recorded.

void environment_keep(char **environment);  // as the process was started with it

#endif
