// The file `startup` of a session: what the kernel tells of how the program came to run, for a session that asks for
// it.

#ifndef CTRACESTARTUP_H
#define CTRACESTARTUP_H

#include <stdint.h>

#include "CTraceRecords.h"

#define FATHOM_STARTUP_MAGIC 0x3154525448544146ull  // "FATHTRT1"
#define FATHOM_STARTUP_VERSION 1u
#define FATHOM_STARTUP_BLOCK 0x4b4c4253u  // "SBLK"

// The file begins with this.
struct fathom_startup {
    uint64_t magic;
    uint32_t version;
    uint32_t header_size;
    uint32_t block_size;
    uint32_t event_size;
    uint32_t pid;  // of the program
    uint32_t reserved;
    uint64_t begin_ns;  // of CLOCK_MONOTONIC, right before the program was started
};
FATHOM_SIZE(fathom_startup, 40);

// Blocks follow, each with events behind it. A block that is cut off, or whose sum does not hold, ends what can be
// read.
struct fathom_startup_block {
    uint32_t magic;
    uint32_t size;  // of the events, in bytes
    uint64_t lost;  // events since the block before that the kernel had no room for
    uint64_t sum;   // of the events (CTraceSum.h)
};
FATHOM_SIZE(fathom_startup_block, 24);

#define FATHOM_EVENT_EXEC 1u     // an image begins; the name is the thread's then
#define FATHOM_EVENT_MAP 2u      // `size` bytes at `address` are mapped, or protected otherwise; the name is the file's
#define FATHOM_EVENT_MINOR 3u    // a page fault at `address`, of an instruction at `size`; the page was in memory
#define FATHOM_EVENT_MAJOR 4u    // the same; it was read
#define FATHOM_EVENT_REFUSED 5u  // the name says why the kernel tells nothing
#define FATHOM_EVENT_FULL 6u     // what came later is not kept
#define FATHOM_EVENT_MAIN 7u     // main is called

// An event, with `name_size` bytes of a name behind it, padded to 8.
struct fathom_startup_event {
    uint64_t ns;  // of CLOCK_MONOTONIC
    uint64_t address;
    uint64_t size;
    uint32_t tid;
    uint16_t kind;       // FATHOM_EVENT_*
    uint8_t protection;  // PROT_*, of FATHOM_EVENT_MAP
    uint8_t reserved;
    uint32_t name_size;
    uint32_t reserved2;
};
FATHOM_SIZE(fathom_startup_event, 40);

#endif
