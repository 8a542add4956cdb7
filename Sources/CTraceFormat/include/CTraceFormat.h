// The on-disk layout of a Fathom session: the only definition, with those of records in CTraceRecords.h, of
// metadata in CTraceMetadata.h and of call paths in CTracePaths.h, shared by the C runtime and the Swift reader.
//
// A session directory holds
//   session.json   what was run, written before the program starts
//   trace          the log: one file header, then chunks, appended by the recorder
//   index          for a long log: the headers of its chunks once more
//   buffers        shared memory that the traced processes write into; each slot is laid out exactly like a chunk
//                  of the log, so whatever the recorder had no chance to drain is read from here
//   functions      while it is being recorded with options that name functions: which these are (CTraceFunctions.h)
// A part of the buffers steers a recording that is running (CTraceSteering.h).
//
// FORMAT.md says the same in prose. Integers are little-endian; structures are 8-byte aligned; times called
// "ticks" are readings of the session's clock, times called "ns" are CLOCK_MONOTONIC nanoseconds.

#ifndef CTRACEFORMAT_H
#define CTRACEFORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceMetadata.h"
#include "CTracePaths.h"
#include "CTraceRecords.h"

#define FATHOM_VERSION "0.2.0"     // of the project; the format has its own
#define FATHOM_BUFFERS_VERSION 5u  // of the buffers: what recorder and traced programs agree on; readers also take 3, 4
#define FATHOM_TRACE_MAGIC 0x3143525448544146ull    // "FATHTRC1"
#define FATHOM_BUFFERS_MAGIC 0x3146554248544146ull  // "FATHBUF1"
#define FATHOM_INDEX_MAGIC 0x3158444948544146ull    // "FATHIDX1"
#define FATHOM_CHUNK_MAGIC 0x4b4e4843u              // "CHNK"

// What a tick is. Stored in one byte.
#define FATHOM_CLOCK_MONOTONIC 0u  // CLOCK_MONOTONIC nanoseconds
#define FATHOM_CLOCK_COUNTER 1u    // the CPU's invariant counter: TSC on x86-64, CNTVCT_EL0 on aarch64

// ---- The log -----------------------------------------------------------------------------------------------------

// The first bytes of `trace`.
struct fathom_trace_header {
    uint64_t magic;              // FATHOM_TRACE_MAGIC
    uint32_t version;            // FATHOM_FORMAT_VERSION
    uint32_t header_size;        // sizeof(struct fathom_trace_header), 88 in version 1: chunks start here
    uint32_t chunk_header_size;  // sizeof(struct fathom_chunk)
    uint8_t clock;               // FATHOM_CLOCK_*
    uint8_t reserved[3];
    uint64_t start_ticks;        // one moment, in ticks ...
    uint64_t start_ns;           // ... and in ns; time 0 of everything that is shown
    uint64_t ticks_per_second;   // measured before the start; chunks refine it
    uint64_t start_realtime_ns;  // the same moment by CLOCK_REALTIME
    // The recorder fills these in when the recording ends, in place, so that not even a full disk prevents it:
    uint64_t unplaced_calls;   // calls that found no buffer and that no chunk's lost_calls tells of
    uint64_t unwritten_calls;  // calls in chunks that were not written to the log
    uint64_t left_out_calls;   // calls that the record options left out
    uint32_t write_errno;      // why chunks were not written; 0: the size cap
    uint32_t is_complete;      // 1: the recorder saw the end
    uint64_t log_size;         // bytes of the log, this header included
    uint64_t spoiled_chunks;   // chunks that the program had written over before they could be written to the log
    uint64_t is_spoiled;       // bits of FATHOM_SPOILED_*
    // Sums as CTraceSum.h computes them.
    uint64_t start_sum;  // of the bytes before unplaced_calls, which stay as they are
    uint64_t end_sum;    // of the bytes from there up to this field
};

#define FATHOM_SPOILED_HEAD 1u    // the program had written over the buffers' head; more may be missing than said here
#define FATHOM_SPOILED_PLACES 2u  // most of the unplaced calls found no return place
#define FATHOM_SPOILED_SYSTEM_CALLS 4u  // system calls of which the kernel told were lost

// ---- Chunks ------------------------------------------------------------------------------------------------------

#define FATHOM_CHUNK_RECORDS 1u   // payload: open call path, then records of one thread
#define FATHOM_CHUNK_METADATA 2u  // payload: metadata items of one process; thread is 0
#define FATHOM_CHUNK_PATHS 3u     // payload: call paths of one thread, see CTracePaths.h
#define FATHOM_CHUNK_STACK 4u     // payload: where the open calls of one thread are, see CTraceStack.h; never in a log
// A chunk that the program never finished has an end_ticks of 0.

#define FATHOM_FLAG_SEALED 1u   // payload_sum and header_sum hold: as Fletcher-64 sums, unless HASHED
#define FATHOM_FLAG_LAST 2u     // the thread ended after this chunk
#define FATHOM_FLAG_GAP 4u      // enters or exits since the previous chunk left no record; see below
#define FATHOM_FLAG_STOPPED 8u  // recording was stopped: calls open at the end may not have gone on after it

// Recording was started since the previous chunk, or since a record last told of this lane's calls. Nothing is missing.
// With this flag or GAP, take the open calls from the chunk's path, not from the records before.
#define FATHOM_FLAG_PATH 16u
#define FATHOM_FLAG_TASKS 32u   // there are TASK records in it
#define FATHOM_FLAG_HASHED 64u  // the sums are those of CTraceSum.h
#define FATHOM_FLAG_CUT 128u    // what the thread did before is not kept, on any lane

// Header of a chunk. Payload follows: path_count entries of struct fathom_path_entry, then records up to `used` bytes.
// In the log, the next chunk starts at sizeof header + used, rounded up to 8.
struct fathom_chunk {
    uint32_t magic;    // FATHOM_CHUNK_MAGIC
    uint8_t kind;      // FATHOM_CHUNK_*
    uint8_t flags;     // FATHOM_FLAG_*
    uint16_t ran;      // the thread's processor time from begin to end, as fathom_ran says
    uint32_t process;  // index in the session: 0, 1, ... in order of first appearance
    uint32_t thread;   // serial in the process: 1, 2, ...; 0 for metadata
    uint32_t pid;
    uint32_t tid;
    uint64_t sequence;       // 0, 1, ... within (process, thread)
    uint64_t begin_ticks;    // base time of the first record
    uint64_t begin_ns;       // the same moment in ns
    uint64_t end_ticks;      // when the chunk was finished, 0 while it is being written
    uint64_t end_ns;         // the same moment; where end_ticks is 0: see fathom_chunk_note_away
    uint64_t switch_ticks;   // processor time between the previous chunk's end and begin_ticks, if the runtime did
                             // nothing else in between; else 0
    uint64_t calls;          // enter records in this chunk; valid once end_ticks is set
    uint64_t lost_calls;     // calls that left no record since the previous chunk's end
    uint64_t orphan_exits;   // exits since the previous chunk's end that match no open call; they leave no record
    uint32_t depth;          // open calls of the current lane at begin_ticks
    uint32_t path_count;     // the innermost of them that the payload lists
    uint32_t inherited;      // the outermost of them that were entered before a fork, in the parent process, or before
                             // recording was started again
    uint32_t lane;           // current lane at begin_ticks; 0 is the thread's own stack
    uint32_t function_base;  // high 32 bits of function addresses at the start
    uint32_t used;           // payload bytes; stored after the bytes it counts
    uint32_t capacity;       // payload bytes the slot can hold
    uint32_t path_calls;     // listed open calls without an ENTER: entered while nothing could be written
    uint64_t payload_sum;    // of the payload, by the recorder; in an unfinished slot: `used` plus the bytes of records
                             // that are not yet final, ignored if not greater than `used`
    uint64_t header_sum;     // of the header with 0 in this field, by the recorder; Fletcher-64: of what is before it
    char name[16];           // thread name, NUL-padded; not covered by a header_sum of Fletcher-64
};

// A processor time as a part of the time that passed, in units of 1 / 65534, and 1; 0: it is not known. It is known
// where waits are told of, of a chunk that its own thread has finished.
FATHOM_PUBLIC_INLINE uint16_t fathom_ran(uint64_t processor_ns, uint64_t passed_ns) {
    if (!passed_ns) return 0;
    if (processor_ns > passed_ns) processor_ns = passed_ns;
    return (uint16_t)(1 + ((unsigned __int128)processor_ns * 65534u + passed_ns / 2) / passed_ns);
}

// While a chunk is being written, `calls` says when its thread looked last at its own processor time, in ticks, or 0,
// and `header_sum` what that was, in ns.
FATHOM_PUBLIC_INLINE void fathom_chunk_looked(struct fathom_chunk *chunk, uint64_t ticks, uint64_t processor_ns) {
    chunk->calls = ticks;
    chunk->header_sum = processor_ns;
}
FATHOM_PUBLIC_INLINE uint64_t fathom_chunk_last_look(const struct fathom_chunk *chunk, uint64_t *processor_ns) {
    *processor_ns = chunk->header_sum;
    return chunk->calls;
}

// Notes for how many ns the thread of a chunk that is being written had no CPU since its last record. `used` is what
// the chunk had when that was looked at. The thread's next record takes it back, as its end does.
FATHOM_PUBLIC_INLINE void fathom_chunk_note_away(struct fathom_chunk *chunk, uint32_t used, uint64_t away_ns) {
    uint64_t known = __atomic_load_n(&chunk->end_ns, __ATOMIC_ACQUIRE);
    uint32_t thread = chunk->thread;
    if (__atomic_load_n(&chunk->end_ticks, __ATOMIC_ACQUIRE) ||
        !__atomic_compare_exchange_n(&chunk->end_ns, &known, away_ns, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    int is_same = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE) == used && chunk->thread == thread &&
                  !__atomic_load_n(&chunk->end_ticks, __ATOMIC_ACQUIRE);
    if (!is_same) __atomic_compare_exchange_n(&chunk->end_ns, &away_ns, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

#define FATHOM_DEPTH_LIMIT 0x4000000u  // open calls of a lane, at most; deeper calls are lost

// One open call, outermost first.
struct fathom_path_entry {
    uint64_t function;
    uint64_t call_site;
    uint64_t enter_ticks;  // for an inherited call: when the child began, or recording was started
};

// The first bytes of `index`. The headers of the log's chunks follow, in their order.
struct fathom_index_header {
    uint64_t magic;              // FATHOM_INDEX_MAGIC
    uint64_t log_sum;            // start_sum of the log
    uint32_t chunk_header_size;  // sizeof(struct fathom_chunk)
    uint32_t reserved;
};

// ---- Buffers -----------------------------------------------------------------------------------------------------

// Slot states, in the low two bits of a slot word; the owner's process index is above them.
#define FATHOM_SLOT_FREE 0u
#define FATHOM_SLOT_OWNED 1u  // a process writes into it
#define FATHOM_SLOT_FULL 2u   // finished, to be drained

// A slot's word: free, but only for chunks that begin while the ring is held.
#define FATHOM_SLOT_SPARE 0xfffffffcu

#define FATHOM_SLOT_LIMIT 32768u  // slots a session can have

#define FATHOM_CONTROL_RECORD 1u  // new chunks may be taken
#define FATHOM_CONTROL_CAPPED 2u  // the size cap is reached: no more records, calls are counted as lost

// A call that took long and has ended. Times are in ticks.
struct fathom_long_call {
    uint64_t function;
    uint64_t end;
    uint64_t duration;
};

// A process tells that a call took long, or had arguments that are asked for, so that the ring may be saved.
struct fathom_ring_request {
    uint32_t number;  // of the request, plus 1; stored last; 0: it is being written
    uint32_t process;
    uint32_t thread;
    uint32_t conditions;  // on its arguments, that the call fulfils: a bit for each; 0: it took long
    struct fathom_long_call call;
};

#define FATHOM_RING_REQUEST_LIMIT 512u

#define FATHOM_RING_END_SHIFT 17

// `fathom_buffers.paused` of programs that wait to be recorded and whose sleds nobody could open then: they are open
// from the start.
#define FATHOM_PAUSED_OPEN 2

#define FATHOM_BUFFERS_OLD_SIZE 176u  // of the head, before version 5
#define FATHOM_LIBRARY_PATTERN 128u   // bytes of `fathom_buffers.library_calls`

// The first bytes of `buffers`. slot_words follows at `words_offset`, requests and ends behind it, slot 0 at
// `slots_offset`. Fields below the line change while processes run and are read and written atomically. Each process
// keeps a copy of how this was when it opened the buffers, for the options.
struct fathom_buffers {
    uint64_t magic;              // FATHOM_BUFFERS_MAGIC
    uint32_t version;            // FATHOM_BUFFERS_VERSION
    uint32_t header_size;        // sizeof(struct fathom_buffers)
    uint32_t chunk_header_size;  // sizeof(struct fathom_chunk)
    uint32_t slot_size;          // bytes, header included; a multiple of 4096
    uint32_t words_offset;
    uint32_t slots_offset;
    uint32_t slot_limit;      // slots the file has room for, at most FATHOM_SLOT_LIMIT
    uint32_t max_depth;       // calls at this depth and below leave no record; 0xffffffff: no limit
    uint64_t min_cost_ticks;  // calls shorter than this that call nothing kept leave no record; 0: all kept
    uint64_t start_ticks;
    uint64_t start_ns;
    uint64_t ticks_per_second;
    uint8_t clock;          // FATHOM_CLOCK_*
    uint8_t paused;         // not 0: programs start without recording, until fathom_start; FATHOM_PAUSED_OPEN
    uint8_t has_functions;  // 1: the file `functions` says what is recorded, see CTraceFunctions.h
    uint8_t keeps;          // FATHOM_KEEPS_*: what of calls
    uint32_t ring_slots;    // 0: chunks go to the log; else full slots make room for new chunks once this many are used
    uint32_t max_paths;     // call paths that all processes together keep, at most
    // ----
    uint32_t recorder_due;    // ms of CLOCK_MONOTONIC by which the recorder means to have looked again, shifted left by
                              // FATHOM_DUE_SHIFT and cut off to 32 bits; bit 0 is FATHOM_DUE_STARVING; 0: it does not
                              // say
    uint32_t control;         // FATHOM_CONTROL_*
    uint32_t process_count;   // next process index
    uint32_t slot_high;       // slots ever used
    uint32_t recorder_pid;    // 0 once the recorder has left
    uint32_t recorder_waits;  // futex: 1 while the recorder sleeps; a process that finishes a chunk sets it to 0
    uint32_t missed_count;    // programs that were started and cannot be recorded; see struct fathom_missed
    uint64_t unplaced_calls;  // calls lost by processes that never got a slot
    uint64_t left_out_calls;  // calls that the record options left out
    // What follows is for a ring, which is saved on request.
    uint64_t ring_ticks;     // chunks that ended so long before the newest one are not kept; UINT64_MAX: all are
    uint64_t long_ticks;     // the recorder wants to hear of calls that took at least this; UINT64_MAX: of none
    uint32_t ring_next;      // where a thread that needs a slot begins to look, modulo the slots that were ever used
    uint32_t request_count;  // requests ever made; number n is in place n modulo FATHOM_RING_REQUEST_LIMIT
    uint32_t save_count;     // how often the program itself asked for a save
    uint32_t ring_held;      // 1 from a request to its save: new chunks take other slots, up to as many again
    uint32_t path_count;     // call paths that processes have made
    uint8_t tells;           // bits of FATHOM_TELLS_*
    uint8_t budget;     // of functions with sleds: percent of its time that recording may cost a thread; 0: no limit
    uint16_t min_size;  // smaller ones, in bytes of code, have closed sleds
    // How many threads of all processes wait for something to come in by a descriptor, and for room to write. One that
    // is killed meanwhile stays counted, so that more is told of than need be.
    uint32_t data_waiters, room_waiters;
    uint64_t unreturned_calls;                   // of the unplaced ones, those for which no return place was free
    char library_calls[FATHOM_LIBRARY_PATTERN];  // of which names calls of library functions are recorded; ends with
                                                 // NUL; behind a '@', and those of functions that make system calls
};

// What is told besides calls.
#define FATHOM_TELLS_WAITS 1u     // calls of the C library that wait have records, which tell what they wait for
#define FATHOM_TELLS_AWAY 2u      // for how long a thread had no CPU has records, because nobody else tells that
#define FATHOM_TELLS_STARTUP 4u   // the program that the recorder starts notes its initialisers and its main function
#define FATHOM_TELLS_MEMORY 8u    // blocks of memory have records
#define FATHOM_TELLS_RUNNING 16u  // chunks have their thread's processor time
#define FATHOM_TELLS_LIBRARY_CALLS 32u  // calls of functions of other modules have records
#define FATHOM_TELLS_PROCESSES 64u      // all processes tell of themselves, also those that make no calls

#define FATHOM_DUE_SHIFT 1
#define FATHOM_DUE_STARVING 1u  // the recorder gets too little of the processors

#define FATHOM_MISSED_STATIC 1u      // statically linked without the runtime
#define FATHOM_MISSED_FOREIGN 2u     // made for another C library or another machine
#define FATHOM_MISSED_PRIVILEGED 3u  // set-uid or set-gid, so that nothing is preloaded
#define FATHOM_MISSED_NO_ACCESS 4u   // its process could not open the buffers: other rights, or another root directory

// A program that a process with the runtime started and that cannot be recorded, whether it has hooks or not. These lie
// behind the ends, as many as fit before what steers the recording (CTraceSteering.h).
struct fathom_missed {
    uint32_t size;  // of the path; stored last; 0: no entry, or the program could not be started
    uint32_t pid;
    uint32_t reason;  // FATHOM_MISSED_*
    uint32_t reserved;
    uint64_t ticks;
    char path[488];
};

FATHOM_OFFSET(fathom_trace_header, clock, 20);
FATHOM_OFFSET(fathom_trace_header, start_ticks, 24);
FATHOM_OFFSET(fathom_trace_header, ticks_per_second, 40);
FATHOM_OFFSET(fathom_trace_header, unplaced_calls, 56);
FATHOM_OFFSET(fathom_trace_header, log_size, 88);
FATHOM_OFFSET(fathom_trace_header, end_sum, 120);
FATHOM_SIZE(fathom_trace_header, 128);
FATHOM_OFFSET(fathom_chunk, process, 8);
FATHOM_OFFSET(fathom_chunk, sequence, 24);
FATHOM_OFFSET(fathom_chunk, end_ticks, 48);
FATHOM_OFFSET(fathom_chunk, calls, 72);
FATHOM_OFFSET(fathom_chunk, depth, 96);
FATHOM_OFFSET(fathom_chunk, used, 116);
FATHOM_OFFSET(fathom_chunk, payload_sum, 128);
FATHOM_OFFSET(fathom_chunk, header_sum, 136);
FATHOM_OFFSET(fathom_chunk, name, 144);
FATHOM_SIZE(fathom_chunk, 160);
FATHOM_SIZE(fathom_path_entry, 24);
FATHOM_SIZE(fathom_index_header, 24);
FATHOM_OFFSET(fathom_missed, path, 24);
FATHOM_SIZE(fathom_missed, 512);
FATHOM_OFFSET(fathom_buffers, slot_limit, 32);
FATHOM_OFFSET(fathom_buffers, min_cost_ticks, 40);
FATHOM_OFFSET(fathom_buffers, clock, 72);
FATHOM_OFFSET(fathom_buffers, ring_slots, 76);
FATHOM_OFFSET(fathom_buffers, keeps, 75);
FATHOM_OFFSET(fathom_buffers, max_paths, 80);
FATHOM_OFFSET(fathom_buffers, control, 88);
FATHOM_OFFSET(fathom_buffers, long_ticks, 136);
FATHOM_OFFSET(fathom_buffers, save_count, 152);
FATHOM_OFFSET(fathom_buffers, path_count, 160);
FATHOM_OFFSET(fathom_buffers, tells, 164);
FATHOM_SIZE(fathom_ring_request, 40);
FATHOM_SIZE(fathom_buffers, 312);

// ---- Helpers -----------------------------------------------------------------------------------------------------

FATHOM_PUBLIC_INLINE uint64_t fathom_scope_base(void) { return FATHOM_SCOPE_BASE; }

// FATHOM_SLOT_* of a slot's word.
FATHOM_PUBLIC_INLINE uint32_t fathom_slot_state(uint32_t word) { return word & 3u; }

// The number of slots that are mapped at a time: 4 MB of them, so that a program that locks or limits its memory has
// little of ours.
FATHOM_PUBLIC_INLINE uint32_t fathom_window_slots(uint32_t slot_size) { return (4u << 20) / slot_size; }

// Where the first struct fathom_ring_request lies in the buffers.
FATHOM_PUBLIC_INLINE uint64_t fathom_requests_offset(uint32_t words_offset) {
    return (words_offset + FATHOM_SLOT_LIMIT * sizeof(uint32_t) + 7) / 8 * 8;
}

// When the chunk in a full slot of a ring ended, as it stands in a word beside the slots, because threads look at many
// at once: in 2^17 ticks, cut off, and odd. 0: the chunk is none that the ring may lose.
FATHOM_PUBLIC_INLINE uint32_t fathom_ring_end(const struct fathom_chunk *chunk) {
    return chunk->kind == FATHOM_CHUNK_RECORDS ? (uint32_t)(chunk->end_ticks >> FATHOM_RING_END_SHIFT) | 1 : 0;
}

// Where these words lie in the buffers, one for each slot.
FATHOM_PUBLIC_INLINE uint64_t fathom_ends_offset(uint32_t words_offset) {
    return fathom_requests_offset(words_offset) + FATHOM_RING_REQUEST_LIMIT * sizeof(struct fathom_ring_request);
}

// Where the first struct fathom_missed lies in the buffers.
FATHOM_PUBLIC_INLINE uint64_t fathom_missed_offset(uint32_t words_offset) {
    uint64_t size = sizeof(struct fathom_missed);
    uint64_t end = fathom_ends_offset(words_offset) + FATHOM_SLOT_LIMIT * sizeof(uint32_t);
    return (end + size - 1) / size * size;
}

// Words that processes share. Whoever loads what another has stored finds what that one wrote before: the loads
// acquire, the stores release, and what changes a word in one step does both, because it may take over what another
// has given up.
FATHOM_PUBLIC_INLINE uint32_t fathom_load32(const uint32_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
FATHOM_PUBLIC_INLINE void fathom_store64(uint64_t *p, uint64_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
FATHOM_PUBLIC_INLINE void fathom_store32(uint32_t *p, uint32_t value) { __atomic_store_n(p, value, __ATOMIC_RELEASE); }
// Makes loads before the fence happen before loads after it. A reader uses it to look whether what it copied has
// changed meanwhile.
FATHOM_PUBLIC_INLINE void fathom_load_fence(void) { __atomic_thread_fence(__ATOMIC_ACQUIRE); }
FATHOM_PUBLIC_INLINE uint32_t fathom_add32(uint32_t *p, uint32_t value) {
    return __atomic_fetch_add(p, value, __ATOMIC_ACQ_REL);
}
FATHOM_PUBLIC_INLINE int fathom_swap32(uint32_t *p, uint32_t expected, uint32_t value) {
    return __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

// Payload bytes in a slot whose writer is gone, with the records that the writer might have taken back.
FATHOM_PUBLIC_INLINE uint32_t fathom_chunk_written(const struct fathom_chunk *chunk) {
    int is_whole = chunk->end_ticks || chunk->payload_sum <= chunk->used || chunk->payload_sum > chunk->capacity;
    return is_whole ? chunk->used : (uint32_t)chunk->payload_sum;
}

// Whether a chunk's header can be one that the runtime wrote into a slot. It may not be, because any program may write
// over the buffers. `used` is the payload's size as it was read. `first` and `last` are moments in ticks: nothing
// happened before `first` or after `last`.
FATHOM_PUBLIC_INLINE int fathom_chunk_is_sound(const struct fathom_chunk *chunk, uint32_t used, uint32_t slot_size,
                                               uint64_t first, uint64_t last) {
    uint64_t end = chunk->end_ticks ? chunk->end_ticks : chunk->begin_ticks;
    uint64_t before = chunk->begin_ticks - first;  // each lost call took at least one tick
    int is_paths = chunk->kind == FATHOM_CHUNK_PATHS || chunk->kind == FATHOM_CHUNK_STACK;
    int is_threads = is_paths || chunk->kind == FATHOM_CHUNK_RECORDS;
    return chunk->magic == FATHOM_CHUNK_MAGIC && (is_threads || chunk->kind == FATHOM_CHUNK_METADATA) &&
           is_threads == (chunk->thread != 0) && slot_size > sizeof *chunk && used <= slot_size - sizeof *chunk &&
           chunk->path_count <= chunk->depth && chunk->inherited <= chunk->depth &&
           (uint64_t)chunk->path_count * sizeof(struct fathom_path_entry) <= used &&
           chunk->path_calls <= chunk->path_count && first <= chunk->begin_ticks && chunk->begin_ticks <= end &&
           end <= last && chunk->lost_calls <= before && chunk->orphan_exits <= before &&
           chunk->switch_ticks <= before && (is_paths || !chunk->end_ticks || chunk->calls <= used / FATHOM_ENTER_SIZE);
}

// The session clock's counter, in ticks. Async-signal-safe.
FATHOM_PUBLIC_INLINE uint64_t fathom_counter(void) {
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
#elif defined(__aarch64__)
    uint64_t value;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return 0;
#endif
}

#endif
