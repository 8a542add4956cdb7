// The kernel's records of a program's start (perf_event_open(2)), in C because Swift knows neither bit fields nor
// syscall().

#ifndef CTRACESTARTUPEVENTS_H
#define CTRACESTARTUPEVENTS_H

#include <linux/hw_breakpoint.h>

#include "CTracePerf.h"
#include "CTraceStartup.h"

// What an event of struct fathom_start_ring tells of.
#define FATHOM_START_MAPS 0u   // images, and what they map
#define FATHOM_START_MINOR 1u  // page faults, where the page was in memory
#define FATHOM_START_MAJOR 2u  // page faults, where it was read
#define FATHOM_START_MAIN 3u   // main is called, in a program whose addresses are fixed

// Opens an event of `kind`, on one CPU, for the programs that this thread starts from now on. It counts from exec on.
// Returns a descriptor, or -1 and errno. `address` is main's, for FATHOM_START_MAIN.
FATHOM_PUBLIC_INLINE int fathom_open_start(int cpu, uint32_t kind, uint64_t address, uint32_t wakeup_bytes) {
    struct perf_event_attr attributes =
        fathom_event_attributes(kind == FATHOM_START_MAPS    ? PERF_COUNT_SW_DUMMY
                                : kind == FATHOM_START_MINOR ? PERF_COUNT_SW_PAGE_FAULTS_MIN
                                                             : PERF_COUNT_SW_PAGE_FAULTS_MAJ,
                                wakeup_bytes);
    if (kind == FATHOM_START_MAIN) {
        attributes.type = PERF_TYPE_BREAKPOINT;
        attributes.config = 0;
        attributes.bp_type = HW_BREAKPOINT_X;
        attributes.bp_addr = address;
        attributes.bp_len = sizeof(long);
    }
    attributes.sample_type =
        PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR;
    if (kind == FATHOM_START_MAPS) {
        attributes.comm = 1;
        attributes.comm_exec = 1;
        attributes.mmap = 1;
        attributes.mmap2 = 1;
        attributes.mmap_data = 1;
    } else {
        attributes.sample_period = 1;
    }
    return fathom_open_event(&attributes, cpu);
}

#define FATHOM_START_NAME 4096u  // bytes of a name, at most, that are kept

// Takes the events of process `pid` out of a ring of `size` bytes, a power of two, and writes them to `bytes` as they
// are in the file. Adds to *lost the number of events that the kernel had no room for. Returns how many bytes it has
// written. When the rest of `room` is less than the largest event takes, the ring may hold more events.
FATHOM_PUBLIC_INLINE size_t fathom_take_start(void *ring, size_t size, uint32_t pid, uint64_t major_id,
                                              uint64_t main_id, char *bytes, size_t room, uint64_t *lost) {
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)ring;
    const char *data = (const char *)ring + sysconf(_SC_PAGESIZE);
    // Acquire, and release below: see fathom_take_events.
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    size_t used = 0;
    union {
        struct perf_event_header header;
        uint64_t words[(FATHOM_START_NAME + 256) / 8];
    } record;
    const size_t most = sizeof(struct fathom_startup_event) + FATHOM_START_NAME;
    while (head - tail >= sizeof(struct perf_event_header) && used + most <= room) {
        uint32_t count = fathom_copy_record(data, size, tail, &record, sizeof record), whole = record.header.size;
        if (!count) break;
        tail += whole;
        if (count != whole) continue;
        struct fathom_startup_event event;
        memset(&event, 0, sizeof event);
        const char *name = NULL;
        size_t name_room = 0;
        // Every record that is not a sample ends with these words: pid, tid; time; identifier.
        uint32_t words = count / 8;
        if (record.header.type == PERF_RECORD_SAMPLE && words >= 6) {
            // Identifier; address of the instruction; pid, tid; time; address.
            if ((uint32_t)record.words[3] != pid) continue;
            event.kind = record.words[1] == major_id             ? FATHOM_EVENT_MAJOR
                         : main_id && record.words[1] == main_id ? FATHOM_EVENT_MAIN
                                                                 : FATHOM_EVENT_MINOR;
            event.tid = (uint32_t)(record.words[3] >> 32);
            event.ns = record.words[4];
            event.address = record.words[5];
            event.size = record.words[2];
        } else if (record.header.type == PERF_RECORD_MMAP2 && words >= 13) {
            // pid, tid; address; size; offset; four words; protection, flags; name.
            if ((uint32_t)record.words[1] != pid) continue;
            event.kind = FATHOM_EVENT_MAP;
            event.address = record.words[2];
            event.size = record.words[3];
            event.protection = (uint8_t)record.words[8];
            name = (const char *)&record.words[9];
            name_room = (words - 3 - 9) * 8;
        } else if (record.header.type == PERF_RECORD_COMM && words >= 6 &&
                   record.header.misc & PERF_RECORD_MISC_COMM_EXEC) {
            if ((uint32_t)record.words[1] != pid) continue;
            event.kind = FATHOM_EVENT_EXEC;
            name = (const char *)&record.words[2];
            name_room = (words - 3 - 2) * 8;
        } else {
            if (record.header.type == PERF_RECORD_LOST && words >= 3) *lost += record.words[2];
            continue;
        }
        if (name) {
            event.tid = (uint32_t)(record.words[words - 3] >> 32);
            event.ns = record.words[words - 2];
            event.name_size = (uint32_t)strnlen(name, name_room < FATHOM_START_NAME ? name_room : FATHOM_START_NAME);
        }
        memcpy(bytes + used, &event, sizeof event);
        used += sizeof event;
        if (name) {
            size_t padded = (event.name_size + 7ul) & ~7ul;
            memset(bytes + used, 0, padded);
            memcpy(bytes + used, name, event.name_size);
            used += padded;
        }
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return used;
}

#endif
