// The files `switches` and `faults` of a session: what the kernel told of threads of the program. `switches` has when
// they gave up a CPU, and when they got one again; `faults` has their page faults.

#ifndef CTRACEEVENTS_H
#define CTRACEEVENTS_H

#include <stdint.h>

#include "CTraceRecords.h"

#define FATHOM_SWITCHES_MAGIC 0x3154575348544146ull  // "FATHSWT1"
#define FATHOM_FAULTS_MAGIC 0x31544c4648544146ull    // "FATHFLT1"
#define FATHOM_WAKINGS_MAGIC 0x314b415748544146ull   // "FATHWAK1"
#define FATHOM_EVENTS_VERSION 1u
#define FATHOM_EVENTS_BLOCK 0x4b434c42u  // "BLCK"

// Each of the files begins with this.
struct fathom_events {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;
    uint32_t block_size;
    uint32_t record_size;
    uint64_t start_ns;  // of CLOCK_MONOTONIC, from which on events are here
};
FATHOM_SIZE(fathom_events, 32);

// Blocks follow, each with records behind it. A block that is cut off, or whose sum does not hold, ends what can be
// read.
struct fathom_events_block {
    uint32_t magic;
    uint32_t count;     // of records
    uint64_t until_ns;  // every event up to this moment is here or in an earlier block, or is among the lost ones
    uint64_t lost;      // events since the block before that the kernel had no room for
    uint64_t sum;       // of the records (CTraceSum.h)
};
FATHOM_SIZE(fathom_events_block, 32);

// The flags of a switch.
#define FATHOM_SWITCH_OUT 1u        // the thread gave up the CPU; without it, the thread got one
#define FATHOM_SWITCH_PREEMPTED 2u  // and it wanted to go on
// The flag of a page fault.
#define FATHOM_FAULT_MAJOR 1u  // the page had to be read; without it, it was in memory, or was a new one

struct fathom_event {
    uint64_t ns;     // of CLOCK_MONOTONIC
    uint32_t tid;    // as the recorder knows it
    uint16_t cpu;    // of a switch; of a waking, the lower half of the waker's thread id
    uint16_t flags;  // of a waking, the upper half
};
FATHOM_SIZE(fathom_event, 16);

// A waking of the thread `tid` by `waker`, or, if that is 0, by an interrupt.
FATHOM_PUBLIC_INLINE struct fathom_event fathom_waking(uint64_t ns, uint32_t tid, uint32_t waker) {
    struct fathom_event event = {ns, tid, (uint16_t)waker, (uint16_t)(waker >> 16)};
    return event;
}

#endif
