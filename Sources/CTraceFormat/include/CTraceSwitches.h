// The file `switches` of a session: when threads of the program gave up a CPU, and when they got one again.

#ifndef CTRACESWITCHES_H
#define CTRACESWITCHES_H

#include <stdint.h>

#include "CTraceRecords.h"

#define FATHOM_SWITCHES_MAGIC 0x3154575348544146ull  // "FATHSWT1"
#define FATHOM_SWITCHES_VERSION 1u
#define FATHOM_SWITCHES_BLOCK 0x4b434c42u  // "BLCK"

// The file begins with this.
struct fathom_switches {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;
    uint32_t block_size;
    uint32_t record_size;
    uint64_t start_ns;  // of CLOCK_MONOTONIC, from which on switches are here
};
FATHOM_SIZE(fathom_switches, 32);

// Blocks follow, each with records behind it. A block that is cut off, or whose sum does not hold, ends what can be
// read.
struct fathom_switches_block {
    uint32_t magic;
    uint32_t count;     // of records
    uint64_t until_ns;  // every switch up to this moment is here or in an earlier block, or is among the lost ones
    uint64_t lost;      // switches since the block before that the kernel had no room for
    uint64_t sum;       // of the records (CTraceSum.h)
};
FATHOM_SIZE(fathom_switches_block, 32);

#define FATHOM_SWITCH_OUT 1u        // the thread gave up the CPU; without it, the thread got one
#define FATHOM_SWITCH_PREEMPTED 2u  // and it wanted to go on

struct fathom_switch {
    uint64_t ns;   // of CLOCK_MONOTONIC
    uint32_t tid;  // as the recorder knows it
    uint16_t cpu;
    uint16_t flags;
};
FATHOM_SIZE(fathom_switch, 16);

#endif
