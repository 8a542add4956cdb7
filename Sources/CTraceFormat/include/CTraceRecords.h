// This header says what each record is in bytes, and how large it is. The functions below write records. The runtime
// uses them, and so do the code that joins the pieces of tasks and the tests. RecordCursor reads records.

#ifndef CTRACERECORDS_H
#define CTRACERECORDS_H

#include <stddef.h>
#include <stdint.h>

#define FATHOM_PUBLIC_INLINE static inline __attribute__((always_inline, no_instrument_function, unused))
#define FATHOM_OFFSET(type, field, offset) _Static_assert(offsetof(struct type, field) == (offset), #type "." #field)
#define FATHOM_SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type)

// Records are a stream of 16-bit little-endian units, which are not aligned.
//
//   unit bit 0 = 1   ENTER, 4 units = one 64-bit word:
//                      bits  1-15  ticks since the previous record
//                      bits 16-31  call site minus the caller's function address; 0xffff: same call site as the
//                                  caller's own (code inlined into one frame)
//                      bits 32-63  low half of the function's address; the high half is the function base
//   unit bit 0 = 0   value v = unit >> 1
//                      v <  FATHOM_SPECIAL   EXIT of the innermost open call, v ticks since the previous record
//                      v >= FATHOM_SPECIAL   one of the special records below, its payload in the units that follow
//
// The caller of a call at depth 0 is function address 0, call site 0. Special records take no time of their own:
// they happen at the time of the previous record, moved on by FATHOM_TIME.

#define FATHOM_FORMAT_VERSION 3u  // of the log; readers also take 2, and 1, which has no sums in its file header
#define FATHOM_PLAIN_VERSION 2u   // of a log in which no record says its own size, so that older readers take it

#define FATHOM_DELTA_LIMIT 0x7fc0u  // deltas below this fit an ENTER or EXIT
#define FATHOM_SITE_SAME 0xffffu
#define FATHOM_SPECIAL 0x7fc0u
#define FATHOM_TIME (FATHOM_SPECIAL + 0)    // 6 bytes: ticks to add
#define FATHOM_BASE (FATHOM_SPECIAL + 1)    // 4 bytes: new function base
#define FATHOM_SITE (FATHOM_SPECIAL + 2)    // 8 bytes: call site of the next ENTER, whose site field is 0
#define FATHOM_UNWIND (FATHOM_SPECIAL + 3)  // 4 bytes: that many innermost calls ended without their exit
#define FATHOM_LANE (FATHOM_SPECIAL + 4)    // 4 bytes: lane now running; 4 bytes: its open calls
#define FATHOM_DROPPED                                                                                                 \
    (FATHOM_SPECIAL + 5)                  // 4 bytes: calls, 8 bytes: ticks, of short or deep callees of the
                                          // innermost open call that the record options left out
#define FATHOM_MARK (FATHOM_SPECIAL + 6)  // 4 bytes: id of the name of a moment
#define FATHOM_COUNTER                                                                                                 \
    (FATHOM_SPECIAL + 7)                  // struct fathom_count: id of a counter's name, its value, an IEEE 754 double
#define FATHOM_TASK (FATHOM_SPECIAL + 8)  // struct fathom_task: the next ENTER begins a piece of a Swift task
// Special records from here on say their size themselves, so that readers can pass over those that they do not know:
// 2 bytes: size of what follows, which is even. A log that has some is of FATHOM_FORMAT_VERSION, and readers of
// FATHOM_PLAIN_VERSION do not take it.
#define FATHOM_SIZED (FATHOM_SPECIAL + 32)
#define FATHOM_ARGUMENTS                                                                                               \
    (FATHOM_SIZED + 0)  // arguments of the innermost open call, which has just begun: 4 bytes: id
                        // of their layout, then the values, then 0 up to an even size
#define FATHOM_WAIT                                                                                                    \
    (FATHOM_SIZED + 1)  // struct fathom_wait: the innermost open call waits, which has just begun or ends next
#define FATHOM_WAKE (FATHOM_SIZED + 2)   // struct fathom_wait: the thread is about to end a wait of others
#define FATHOM_AWAY (FATHOM_SIZED + 10)  // 8 bytes: for so many ns before, the thread had no CPU, in no known wait
// What the innermost open call does with memory: each record is a struct fathom_block.
#define FATHOM_ALLOCATED (FATHOM_SIZED + 3)  // a block has been allocated
#define FATHOM_FREED (FATHOM_SIZED + 4)      // a block is about to be freed; its size is 0
#define FATHOM_MAPPED (FATHOM_SIZED + 5)     // pages have been mapped, of which the program asked for `size` bytes
#define FATHOM_UNMAPPED (FATHOM_SIZED + 6)   // what is in `size` bytes of addresses is about to be unmapped
#define FATHOM_RESULT (FATHOM_SIZED + 7)  // what the innermost open call, which ends next, returns: as FATHOM_ARGUMENTS
// Page faults, each a struct fathom_block, only where a reader puts calls of several threads together: what is in no
// log.
#define FATHOM_MINOR_FAULT (FATHOM_SIZED + 8)  // the page was in memory, or is a new one
#define FATHOM_MAJOR_FAULT (FATHOM_SIZED + 9)  // the page was read
#define FATHOM_SPECIAL_SIZE_TIME 8u
#define FATHOM_SPECIAL_SIZE_BASE 6u
#define FATHOM_SPECIAL_SIZE_SITE 10u
#define FATHOM_SPECIAL_SIZE_UNWIND 6u
#define FATHOM_SPECIAL_SIZE_LANE 10u
#define FATHOM_SPECIAL_SIZE_DROPPED 14u
#define FATHOM_SPECIAL_SIZE_MARK 6u
#define FATHOM_SPECIAL_SIZE_COUNTER 14u
#define FATHOM_SPECIAL_SIZE_TASK 42u
#define FATHOM_ENTER_SIZE 8u
#define FATHOM_EXIT_SIZE 2u

#define FATHOM_TASK_CONTEXTS 4u
#define FATHOM_TASK_DEPTH_LIMIT 64u
#define FATHOM_TASK_RESUMED 1u  // the piece is what the task was to go on with when it was last suspended

// A piece is a part of a task that is one call on a thread's stack. It ends where the task is suspended, and also where
// one function of the task calls another one or returns to it. Contexts are addresses that stand for asynchronous calls
// while these last.
struct fathom_task {
    uint32_t task;    // id in the process
    uint8_t depth;    // contexts from the piece's to the task's first; the limit: that many or more; 0: not known
    uint8_t flags;    // FATHOM_TASK_*
    uint16_t resume;  // hash of what the task was to go on with when last suspended; a new value: suspended since
    uint64_t contexts[FATHOM_TASK_CONTEXTS];  // the innermost: the piece's, its caller's, and so on
};
FATHOM_SIZE(fathom_task, 40);

// What a wait is for.
#define FATHOM_WAIT_MUTEX 1u
#define FATHOM_WAIT_RWLOCK 2u
#define FATHOM_WAIT_CONDITION 3u
#define FATHOM_WAIT_SEMAPHORE 4u
#define FATHOM_WAIT_BARRIER 5u
#define FATHOM_WAIT_THREAD 6u       // the end of a thread
#define FATHOM_WAIT_SLEEP 7u        // a time
#define FATHOM_WAIT_DESCRIPTOR 8u   // something to read, or room to write
#define FATHOM_WAIT_POLL 9u         // one of several descriptors, or a time
#define FATHOM_WAIT_CHILD 10u       // a child process
#define FATHOM_WAIT_FUTEX 11u       // a futex by syscall()
#define FATHOM_WAIT_FILE_LOCK 12u   // the lock of a file
#define FATHOM_WAIT_ONCE 13u        // what another thread does once for all
#define FATHOM_WAIT_CREATION 14u    // WAKE only: the innermost call makes a thread
#define FATHOM_WAIT_BEGINNING 15u   // WAKE only: the thread itself begins; no call is open, or those of a fork's parent
#define FATHOM_WAIT_SIGNAL 16u      // a signal; the object is the process
#define FATHOM_WAIT_SEMAPHORES 17u  // semaphores of System V; the object is the number of their set
#define FATHOM_WAIT_QUEUE 18u       // a message, or room for one; the object is the queue's number, or that of its file
#define FATHOM_WAIT_INPUT_OUTPUT 19u  // the end of input or output that was asked for

#define FATHOM_WAIT_RAN_UNKNOWN UINT32_MAX

// A wait, or what ends one.
struct fathom_wait {
    uint16_t kind;       // FATHOM_WAIT_*
    int16_t descriptor;  // DESCRIPTOR, POLL, FILE_LOCK: which, cut off to 16 bits; else -1
    uint32_t ran_ns;     // WAIT: the time within the call in which the thread had a CPU
                         // WAKE of MUTEX and RWLOCK: how long the lock was held, as fathom_held says
    uint64_t object;     // an address, or a number of the kernel's; the same of a wait and of what ends it; 0: none
};
FATHOM_SIZE(fathom_wait, 16);

// A WAIT for what has a name: the file, or the other end, of the descriptor.
struct fathom_named_wait {
    struct fathom_wait wait;
    uint32_t name;  // id of a FATHOM_NAME_OBJECT; 0: none is known
    uint32_t reserved;
};
FATHOM_SIZE(fathom_named_wait, 24);

// A counter's value.
struct fathom_count {
    uint32_t name;
    uint32_t bits[2];  // of a double, the low half first
};
FATHOM_SIZE(fathom_count, 12);
FATHOM_PUBLIC_INLINE struct fathom_count fathom_counted(uint32_t name, uint64_t bits) {
    struct fathom_count count = {name, {(uint32_t)bits, (uint32_t)(bits >> 32)}};
    return count;
}

// Memory of the program. What is at an address belongs to the last block that was allocated there.
struct fathom_block {
    uint64_t address;
    uint64_t size;  // in bytes, as the program asked for it
};
FATHOM_SIZE(fathom_block, 16);

// This bit of the object of a wait of the kinds DESCRIPTOR and POLL says that there was no room for what goes out.
#define FATHOM_WAIT_ROOM (1ull << 62)

// A time in which a lock was held: in ns, or, when that has more than 31 bits, in units of 1024 ns, which bit 31 tells.
#define FATHOM_HELD_LONG 0x80000000u
FATHOM_PUBLIC_INLINE uint32_t fathom_held(uint64_t nanoseconds) {
    if (nanoseconds < FATHOM_HELD_LONG) return (uint32_t)nanoseconds;
    uint64_t units = nanoseconds >> 10, most = (FATHOM_WAIT_RAN_UNKNOWN ^ FATHOM_HELD_LONG) - 1;
    return FATHOM_HELD_LONG | (uint32_t)(units < most ? units : most);
}
FATHOM_PUBLIC_INLINE uint64_t fathom_held_ns(uint32_t held) {
    return held & FATHOM_HELD_LONG ? (uint64_t)(held ^ FATHOM_HELD_LONG) << 10 : held;
}

// A value of an argument begins with one of these bytes. Behind TEXT and CUT, 2 bytes give the size of a text, and its
// bytes follow. Behind VALUE are as many bytes as the layout says.
#define FATHOM_VALUE 0u
#define FATHOM_VALUE_TEXT 1u
#define FATHOM_VALUE_CUT 2u              // the text goes on
#define FATHOM_VALUE_UNREADABLE 3u       // it is in memory that cannot be read
#define FATHOM_VALUE_NULL 4u             // the text's address is 0
#define FATHOM_VALUE_NO_ROOM 5u          // the record would have become too large
#define FATHOM_TEXT_LIMIT 1024u          // bytes of a text
#define FATHOM_ARGUMENTS_LIMIT 4096u     // bytes of an ARGUMENTS record
#define FATHOM_ARGUMENT_COUNT_LIMIT 64u  // values of one

// Bytes of the record at `record`, of which `available` can be read, 2 at least. More than those: it is cut off.
FATHOM_PUBLIC_INLINE uint32_t fathom_record_size(const void *record, size_t available) {
    static const uint8_t sizes[] = {
        FATHOM_SPECIAL_SIZE_TIME,   FATHOM_SPECIAL_SIZE_BASE,    FATHOM_SPECIAL_SIZE_SITE,
        FATHOM_SPECIAL_SIZE_UNWIND, FATHOM_SPECIAL_SIZE_LANE,    FATHOM_SPECIAL_SIZE_DROPPED,
        FATHOM_SPECIAL_SIZE_MARK,   FATHOM_SPECIAL_SIZE_COUNTER, FATHOM_SPECIAL_SIZE_TASK,
    };
    uint16_t unit, size;
    __builtin_memcpy(&unit, record, sizeof unit);
    uint32_t value = unit >> 1;
    if (unit & 1) return FATHOM_ENTER_SIZE;
    if (value >= FATHOM_SIZED) {
        if (available < 4) return 4;
        __builtin_memcpy(&size, (const char *)record + 2, sizeof size);
        return 4u + size;
    }
    if (value < FATHOM_SPECIAL) return FATHOM_EXIT_SIZE;
    return value - FATHOM_SPECIAL < sizeof sizes ? sizes[value - FATHOM_SPECIAL] : 2;
}

// ---- How they are written ---------------------------------------------------------------------------------------
//
// Each function writes its record at `p`, with the records that this needs before it, and returns the place behind.
// What is written relates to what was written before, so the writer keeps three things: the time of the last record,
// the function base, and which call is the innermost.

// Bytes that a record takes at most, with the TIME, BASE and SITE records that it may need before it.
#define FATHOM_RECORD_LIMIT 64u

// Ticks that one TIME record can tell.
#define FATHOM_TIME_LIMIT 0xffffffffffffull

FATHOM_PUBLIC_INLINE void *fathom_put(void *p, const void *bytes, size_t size) {
    __builtin_memcpy(p, bytes, size);
    return (char *)p + size;
}

// A special record with its payload.
FATHOM_PUBLIC_INLINE void *fathom_put_special(void *p, uint32_t special, const void *payload, size_t size) {
    uint16_t unit = (uint16_t)(special << 1);
    return fathom_put(fathom_put(p, &unit, sizeof unit), payload, size);
}

// Moves the time on by `ticks`. More than 48 bits of ticks take several records: that is 78 hours of a 1 GHz counter,
// and 26 hours of one of 3 GHz.
FATHOM_PUBLIC_INLINE void *fathom_put_time(void *p, uint64_t ticks) {
    while (1) {
        uint64_t some = ticks < FATHOM_TIME_LIMIT ? ticks : FATHOM_TIME_LIMIT;
        uint64_t word = FATHOM_TIME << 1 | some << 16;
        p = fathom_put(p, &word, sizeof word);
        ticks -= some;
        if (!ticks) return p;
    }
}

// Whether records that change nothing can take `size` bytes. They are 8 and 6 bytes long.
FATHOM_PUBLIC_INLINE int fathom_can_fill(size_t size) { return size % 2 == 0 && size != 2 && size != 4 && size != 10; }

// Fills `size` bytes, which fathom_can_fill, with records that change nothing, at the end of a chunk: TIME records of 0
// ticks, and BASE records of the function base that the chunk began with, because no function follows.
FATHOM_PUBLIC_INLINE void fathom_fill(void *p, size_t size, uint32_t function_base) {
    for (; size % FATHOM_SPECIAL_SIZE_TIME; size -= FATHOM_SPECIAL_SIZE_BASE)
        p = fathom_put_special(p, FATHOM_BASE, &function_base, sizeof function_base);
    for (; size; size -= FATHOM_SPECIAL_SIZE_TIME) p = fathom_put_time(p, 0);
}

// Moves the time on when that takes a record of its own, because an ENTER or EXIT has no room for *delta ticks. *delta
// becomes what the ENTER or EXIT has to tell.
FATHOM_PUBLIC_INLINE void *fathom_put_delta(void *p, uint64_t *delta) {
    if (*delta < FATHOM_DELTA_LIMIT) return p;
    p = fathom_put_time(p, *delta);
    *delta = 0;
    return p;
}

// What the site field of an ENTER says of a call; FATHOM_SITE_FAR when it cannot say it, so that a SITE record must.
// The caller of a call at depth 0 is function 0 with call site 0.
#define FATHOM_SITE_FAR 0x10000u
FATHOM_PUBLIC_INLINE uint32_t fathom_site_field(uint64_t call_site, uint64_t caller, uint64_t callers_site) {
    if (call_site == callers_site) return FATHOM_SITE_SAME;
    uint64_t offset = call_site - caller;
    if (__builtin_expect(offset >= FATHOM_SITE_SAME, 0)) return FATHOM_SITE_FAR;
    return (uint32_t)offset;
}

// Writes a call that begins `delta` ticks after the last record. `delta` must be below FATHOM_DELTA_LIMIT, the function
// base must be that of the call's function, and the site field must be able to say its call site.
FATHOM_PUBLIC_INLINE void *fathom_put_enter(void *p, uint64_t function, uint64_t delta, uint64_t site_field) {
    uint64_t word = 1 | delta << 1 | site_field << 16 | function << 32;
    return fathom_put(p, &word, sizeof word);
}

// Writes a call that begins, with the records that it needs before it. `site_field` is fathom_site_field's answer.
FATHOM_PUBLIC_INLINE void *fathom_put_call(void *p, uint64_t function, uint64_t call_site, uint32_t site_field,
                                           uint64_t delta, uint64_t *function_base) {
    p = fathom_put_delta(p, &delta);
    if (function >> 32 != *function_base) {
        uint32_t base = (uint32_t)(function >> 32);
        p = fathom_put_special(p, FATHOM_BASE, &base, sizeof base);
        *function_base = base;
    }
    if (site_field == FATHOM_SITE_FAR) {
        p = fathom_put_special(p, FATHOM_SITE, &call_site, sizeof call_site);
        site_field = 0;
    }
    return fathom_put_enter(p, function, delta, site_field);
}

// Writes that the innermost call ends `delta` ticks after the last record. `delta` must be below FATHOM_DELTA_LIMIT.
FATHOM_PUBLIC_INLINE void *fathom_put_exit(void *p, uint64_t delta) {
    uint16_t unit = (uint16_t)(delta << 1);
    return fathom_put(p, &unit, sizeof unit);
}

// The functions below write records that happen at the time of the record before them.

FATHOM_PUBLIC_INLINE void *fathom_put_unwind(void *p, uint32_t count) {
    return fathom_put_special(p, FATHOM_UNWIND, &count, sizeof count);
}

FATHOM_PUBLIC_INLINE void *fathom_put_lane(void *p, uint32_t lane, uint32_t open_calls) {
    uint32_t payload[2] = {lane, open_calls};
    return fathom_put_special(p, FATHOM_LANE, payload, sizeof payload);
}

FATHOM_PUBLIC_INLINE void *fathom_put_dropped(void *p, uint32_t calls, uint64_t ticks) {
    return fathom_put(fathom_put_special(p, FATHOM_DROPPED, &calls, sizeof calls), &ticks, sizeof ticks);
}

// Writes the head of a record with `size` bytes of payload, which follow; `size` is even.
FATHOM_PUBLIC_INLINE void *fathom_put_head(void *p, uint32_t special, uint16_t size) {
    return fathom_put_special(p, special, &size, special >= FATHOM_SIZED ? sizeof size : 0);
}

// Writes a record that tells something of a moment: MARK, COUNTER, or one that says its size.
FATHOM_PUBLIC_INLINE void *fathom_put_told(void *p, uint32_t special, const void *payload, uint16_t size) {
    return fathom_put(fathom_put_head(p, special, size), payload, size);
}

FATHOM_PUBLIC_INLINE void *fathom_put_task(void *p, const struct fathom_task *task) {
    return fathom_put_special(p, FATHOM_TASK, task, sizeof *task);
}

#endif
