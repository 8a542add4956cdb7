// Call paths that are added up while a program runs: what chunks of kind FATHOM_CHUNK_PATHS hold.
//
// A thread's paths are units of 64 bytes, numbered from 0 on as they were made, in as many chunks as they need. Some
// take the place of two. The payload of such a chunk is a head and, behind it, units of increasing numbers. A unit's
// first fields are stored before the chunk's `used` counts it, and never change. Its numbers change with every call.
// Times are in ticks.

#ifndef CTRACEPATHS_H
#define CTRACEPATHS_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceRecords.h"

// What a program keeps of its calls, in a byte of the buffers' head.
#define FATHOM_KEEPS_RECORDS 0u  // a record of each
#define FATHOM_KEEPS_COUNTS 1u   // how often each path was called
#define FATHOM_KEEPS_TIMES 2u    // how often, and how long that took
#define FATHOM_KEEPS_SAMPLES 3u  // in how many samples of the stacks it was, and the time that these stand for

#define FATHOM_NO_PATH 0xffffffffu
#define FATHOM_DEFAULT_PATHS 1000000u

// What a unit is.
#define FATHOM_UNIT_PATH 1u  // struct fathom_path: a call path; `path` is that of its caller
#define FATHOM_UNIT_FOLDED                                                                                             \
    2u  // struct fathom_path: callees of `path` for which no path could be made, and all that
        // those called; only `calls` means something
#define FATHOM_UNIT_INHERITED                                                                                          \
    3u                            // struct fathom_path: those calls of `path` that began before it was recorded; only
                                  // `calls` and `total` mean something, and `path` has these times in its total, too
#define FATHOM_UNIT_COARSE 4u     // struct fathom_coarse_durations: the same as the next one, of Fathom up to 0.2.0
#define FATHOM_UNIT_DURATIONS 5u  // struct fathom_durations: a part of the durations of the calls of `path`
#define FATHOM_UNIT_CARRIES 6u    // struct fathom_durations: each count stands for FATHOM_CARRY calls

// The first bytes of the payload.
struct fathom_paths_head {
    uint32_t tree;       // 0, 1, ... of the thread: a later one begins when the process seemed to end, and went on
    uint32_t first;      // number of the first unit in this chunk
    uint64_t keeps;      // FATHOM_KEEPS_*
    uint64_t period_ns;  // of FATHOM_KEEPS_SAMPLES: the time that a sample stands for
    uint64_t reserved;
};

// A call path that began to be called on one stack of a thread. No two of its calls overlap.
struct fathom_path {
    uint16_t unit;  // FATHOM_UNIT_*
    uint16_t reserved;
    uint32_t path;      // a unit's number, or FATHOM_NO_PATH
    uint64_t function;  // 0 unless this is a call path
    uint64_t calls;     // that began
    uint64_t total;     // of those that have ended
    uint64_t moment;    // FATHOM_PATH_*: when the call that is open began, or when the last one ended
    uint64_t first;     // when the first one began
    uint64_t shortest;  // of those that have ended; UINT64_MAX: there are none
    uint64_t longest;
};

// path.moment is a time in ticks shifted left, and in the lowest bits:
#define FATHOM_PATH_SHIFT 2
#define FATHOM_PATH_OPEN 1u       // a call is open, and began then
#define FATHOM_PATH_INHERITED 2u  // that call counts as inherited

#define FATHOM_DURATIONS_SIZE 60u
#define FATHOM_CARRY 65536u

// How many calls took how long, for the durations in FATHOM_DURATIONS_SIZE neighbouring buckets; a bucket may be in
// several of a path's. There is none for a path that has one or two calls, which are the shortest and the longest. A
// count that is full begins again at 0, and FATHOM_CARRY goes to the unit of carries of the same buckets. Both stop at
// UINT16_MAX when there is no such unit, or it is full, too. This takes the place of two units.
struct fathom_durations {
    uint16_t unit;   // FATHOM_UNIT_DURATIONS or FATHOM_UNIT_CARRIES
    uint16_t first;  // bucket
    uint32_t path;
    uint16_t counts[FATHOM_DURATIONS_SIZE];
};

#define FATHOM_COARSE_SIZE 30u
#define FATHOM_COARSE_BUCKETS 252u

// The same with four buckets to each doubling.
struct fathom_coarse_durations {
    uint16_t unit;   // FATHOM_UNIT_COARSE
    uint16_t first;  // bucket
    uint32_t path;
    uint32_t counts[FATHOM_COARSE_SIZE];
};

FATHOM_SIZE(fathom_paths_head, 32);
FATHOM_OFFSET(fathom_path, function, 8);
FATHOM_OFFSET(fathom_path, moment, 32);
FATHOM_SIZE(fathom_path, 64);
FATHOM_OFFSET(fathom_durations, counts, 8);
FATHOM_SIZE(fathom_durations, 128);
FATHOM_SIZE(fathom_coarse_durations, 128);

#define FATHOM_UNIT_SIZE 64u

// The bucket of a duration: exact up to 31 ticks, and then 32 to each doubling. The sum of 32 makes small durations
// ordinary ones, without a branch. The conversion finds the exponent in less time than an instruction that looks for
// the highest bit takes on some processors; beyond 2^53 ticks it may round up to the next bucket.
FATHOM_PUBLIC_INLINE uint32_t fathom_duration_bucket(uint64_t ticks) {
#if !defined(__SSE2__) && !defined(__ARM_NEON)
    // The runtime has general registers alone.
    uint64_t whole = (ticks & (UINT64_MAX >> 2)) + 32;
    uint32_t exponent = 63u - (uint32_t)__builtin_clzll(whole);
    return (exponent - 5) * 32 + (uint32_t)(whole >> (exponent - 5) & 31);
#else
    double shifted = (double)(int64_t)((ticks & (UINT64_MAX >> 2)) + 32);
    uint64_t bits;
    __builtin_memcpy(&bits, &shifted, sizeof bits);
    return (uint32_t)(bits >> 47) - (1023u + 5) * 32;
#endif
}

#define FATHOM_BUCKETS 1888u

// The middle of a bucket, in ticks: within 1.6 % of everything in it.
FATHOM_PUBLIC_INLINE uint64_t fathom_bucket_middle(uint32_t bucket) {
    uint32_t shift = bucket / 32;
    return ((32ull + bucket % 32) << shift) - 32 + ((1ull << shift) - 1) / 2;
}

// The same of a bucket of FATHOM_UNIT_COARSE: within 12.5 %.
FATHOM_PUBLIC_INLINE uint64_t fathom_coarse_middle(uint32_t bucket) {
    uint32_t shift = bucket / 4;
    return ((4ull + bucket % 4) << shift) - 4 + ((1ull << shift) - 1) / 2;
}

#endif
