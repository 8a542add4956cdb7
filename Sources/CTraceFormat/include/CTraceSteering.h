// How `fathom ctl` steers a recording that is running: a part of the session's buffers that whoever steers writes, and
// that traced processes read. It holds what is wanted, not a list of commands, so that nobody has to keep up: a process
// that looks late finds what was asked last.
//
// Every hook loads `asked`, from a page that is mapped where the hook finds it without a pointer, and compares it with
// what its process has taken up. So a process takes up what is asked at its next call, and needs no thread, no signal
// and no system call to hear of it. Beside it, each process says what it has taken up.

#ifndef CTRACESTEERING_H
#define CTRACESTEERING_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceSum.h"

#define FATHOM_STEERING_SIZE 65536u  // of all that is in this file; it lies in front of the slots
// What the name of a session ends with whose programs wait for others to record stretches of them.
#define FATHOM_ARMED_SUFFIX ".armed"
#define FATHOM_STEERED_OFFSET 4096u  // of the first struct fathom_steered, from the struct fathom_steering
#define FATHOM_STEERED_LIMIT ((FATHOM_STEERING_SIZE - FATHOM_STEERED_OFFSET) / sizeof(struct fathom_steered))

// Numbers of commands are shifted left by this, so that a mode has room in the same word; see control_word in the
// runtime.
#define FATHOM_ASKED_SHIFT 8

#define FATHOM_STEERING_TEXT 944u

// What is wanted. Numbers of commands are shifted; 0: there was none.
struct fathom_wish {
    uint32_t run_number;     // of the last command that starts or stops recording
    uint32_t runs;           // 1: it starts; 0: it stops
    uint64_t run_ticks;      // when recording was to start or stop
    uint32_t limits_number;  // of the last command that sets limits
    uint32_t max_depth;      // this and the next as in struct fathom_buffers
    uint64_t min_cost_ticks;
    uint32_t save_number;       // of the last command to save
    uint32_t functions_number;  // of the last command that names functions
    uint32_t functions_file;    // which of the session's files `functions.N` has them
    uint32_t reserved;
    uint64_t sum;  // of what is before. A process takes up nothing of a wrong one.
};

struct fathom_steering {
    uint32_t asked;       // number of the last command, shifted; stored last; 0: there was none
    uint32_t save_count;  // saves that the recorder was asked for
    struct fathom_wish wish;
    uint64_t asked_ns;                // when the last command came, by CLOCK_REALTIME
    uint32_t text_size;               // of `text`
    uint16_t changes_mode;            // 1: the recorder begins a session of another mode when it is asked to
    uint16_t wanted_mode;             // number of the mode that it was asked for, from 1; 0: nobody has asked
    char text[FATHOM_STEERING_TEXT];  // by which options functions were named, for people
};

#define FATHOM_STEERED_RECORDING 1u
#define FATHOM_STEERED_STOPPED 2u
#define FATHOM_STEERED_OFF 3u  // it records nothing any more, whatever is asked

// What a process has taken up.
struct fathom_steered {
    uint32_t pid;  // 0: this is nobody's
    uint32_t process;
    uint32_t taken;    // number of the last command that it has taken up, shifted
    uint32_t state;    // FATHOM_STEERED_*
    uint32_t threads;  // that have made a call and have not ended
    uint32_t current;  // those of them that do as the process does
    uint32_t max_depth;
    uint32_t functions_number;  // of the last command that names functions and that it could take up, shifted
    uint64_t min_cost_ticks;
    uint64_t taken_ticks;  // when it has taken that up
    uint64_t reserved_2;
};

FATHOM_OFFSET(fathom_wish, sum, 48);
FATHOM_SIZE(fathom_wish, 56);
FATHOM_SIZE(fathom_steering, 1024);
FATHOM_OFFSET(fathom_steered, min_cost_ticks, 32);
FATHOM_SIZE(fathom_steered, 56);
_Static_assert(sizeof(struct fathom_steering) <= FATHOM_STEERED_OFFSET, "the processes lie behind it");

// Where the struct fathom_steering lies in the buffers.
FATHOM_PUBLIC_INLINE uint64_t fathom_steering_offset(uint32_t slots_offset) {
    return (uint64_t)slots_offset - FATHOM_STEERING_SIZE;
}

FATHOM_PUBLIC_INLINE uint64_t fathom_wish_sum(const struct fathom_wish *wish) {
    return fathom_hash(wish, offsetof(struct fathom_wish, sum));
}

#endif
