// The kernel's records of context switches, wakings and page faults (perf_event_open(2)), in C because Swift knows
// neither bit fields nor syscall().

#ifndef CTRACEPERF_H
#define CTRACEPERF_H

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "CTraceEvents.h"
#include "CTraceFormat.h"

#define FATHOM_IN_INTERRUPT 0x18  // the kernel's TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ

// What every event has that tells of programs that this thread starts from now on, and of all their threads and
// children. This thread itself is not told of: the event is enabled by exec.
FATHOM_PUBLIC_INLINE struct perf_event_attr fathom_event_attributes(uint64_t config, uint32_t wakeup_bytes) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = config;
    attributes.exclude_kernel = 1;  // unprivileged users may ask for nothing else
    attributes.exclude_hv = 1;
    attributes.inherit = 1;
    attributes.disabled = 1;
    attributes.enable_on_exec = 1;
    attributes.sample_id_all = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    attributes.watermark = 1;
    attributes.wakeup_watermark = wakeup_bytes;
    return attributes;
}

FATHOM_PUBLIC_INLINE int fathom_open_event(struct perf_event_attr *attributes, int cpu) {
    return (int)syscall(SYS_perf_event_open, attributes, 0, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// Opens an event that tells of switches on one CPU. The result is a descriptor, or -1, and errno says why.
FATHOM_PUBLIC_INLINE int fathom_open_switches(int cpu, uint32_t wakeup_bytes) {
    struct perf_event_attr attributes = fathom_event_attributes(PERF_COUNT_SW_DUMMY, wakeup_bytes);
    attributes.context_switch = 1;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
    return fathom_open_event(&attributes, cpu);
}

// The same of page faults, those that had to read the page or the others. With `in_kernel`, faults count that the
// kernel has in the program's memory while it is in a system call.
FATHOM_PUBLIC_INLINE int fathom_open_faults(int cpu, int is_major, int in_kernel, uint32_t wakeup_bytes) {
    struct perf_event_attr attributes =
        fathom_event_attributes(is_major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN, wakeup_bytes);
    attributes.exclude_kernel = !in_kernel;
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
    return fathom_open_event(&attributes, cpu);
}

// The same of wakings of all threads of the machine by what runs on one CPU, from now on. `id` is the tracepoint's
// (of tracefs). Only who has CAP_PERFMON may ask for these.
FATHOM_PUBLIC_INLINE int fathom_open_wakings(int cpu, uint64_t id, uint32_t wakeup_bytes) {
    struct perf_event_attr attributes = fathom_event_attributes(id, wakeup_bytes);
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.exclude_kernel = 0;
    attributes.inherit = attributes.disabled = attributes.enable_on_exec = 0;
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
    return (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

// Opens a counter of the instructions of programs that this thread starts from now on, and of all their threads and
// children, without the kernel's. The result is a descriptor, which the caller closes, or -1, and errno says why.
FATHOM_PUBLIC_INLINE int fathom_open_instructions(void) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.inherit = attributes.disabled = attributes.enable_on_exec = 1;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    return fathom_open_event(&attributes, -1);
}

// Reads what the counter has counted. Not 0 when it did not count all the time, or nothing: then *count stays.
FATHOM_PUBLIC_INLINE int fathom_read_instructions(int descriptor, uint64_t *count) {
    struct {
        uint64_t count, enabled, running;
    } values;
    if (read(descriptor, &values, sizeof values) != sizeof values) return -1;
    if (!values.running || values.running < values.enabled) return -1;
    *count = values.count;
    return 0;
}

// Opens a tracefs that nobody else sees, where the kernel's own is mounted nowhere. Only who may mount it can do so.
// The result is a descriptor of its directory, or -1, and errno says why.
FATHOM_PUBLIC_INLINE int fathom_open_tracefs(void) {
    int context = (int)syscall(SYS_fsopen, "tracefs", 1 /* FSOPEN_CLOEXEC */), mount = -1;
    if (context < 0) return -1;
    if (!syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, NULL, NULL, 0))
        mount = (int)syscall(SYS_fsmount, context, 1 /* FSMOUNT_CLOEXEC */, 0);
    int error = errno;
    close(context);
    errno = error;
    return mount;
}

// Lets an event write into the ring of another. 0 on success.
FATHOM_PUBLIC_INLINE int fathom_share_ring(int descriptor, int owner) {
    return ioctl(descriptor, PERF_EVENT_IOC_SET_OUTPUT, owner);
}

// What the kernel calls an event in its records; 0 if that cannot be told.
FATHOM_PUBLIC_INLINE uint64_t fathom_event_id(int descriptor) {
    uint64_t id = 0;
    return ioctl(descriptor, PERF_EVENT_IOC_ID, &id) ? 0 : id;
}

// Maps the ring of an event: a page of its own, then `size` bytes. NULL if that is refused, and errno says why.
FATHOM_PUBLIC_INLINE void *fathom_map_ring(int descriptor, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *ring = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return ring == MAP_FAILED ? NULL : ring;
}

FATHOM_PUBLIC_INLINE void fathom_unmap_ring(void *ring, size_t size) {
    munmap(ring, (size_t)sysconf(_SC_PAGESIZE) + size);
}

// A descriptor that a thread can poll for another's wake, which writes a 64-bit number to it.
FATHOM_PUBLIC_INLINE int fathom_wake_descriptor(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// Copies the record at `place` of a ring of `size` bytes, a power of two, whose memory begins at `data`: as much as
// `room` holds. Returns how many bytes that are; 0: there is none, because somebody has written over the ring.
FATHOM_PUBLIC_INLINE uint32_t fathom_copy_record(const char *data, size_t size, uint64_t place, void *record,
                                                 size_t room) {
    const struct perf_event_header *header = (const struct perf_event_header *)(data + (place & (size - 1)));
    uint32_t bytes = header->size < room ? header->size : (uint32_t)room;
    // Records are of 8-byte words, and the ring's end may be between two.
    for (uint32_t i = 0; i < bytes / 8; i++) memcpy((char *)record + i * 8u, data + ((place + i * 8u) & (size - 1)), 8);
    return bytes;
}

// Takes records out of a ring of `size` bytes, a power of two, into `records`, which has room for `room` of them.
// `major_id` is what the kernel calls the event of faults that read; in rings of wakings, `woken_at` is where a record
// of the tracepoint has the woken thread's id, and else it is 0. *lost grows by the number of those that the kernel had
// no room for. The result is the number of records taken; when it is `room`, there may be more.
//
// As perf_event_open(2) asks for: the load of the head acquires the records that the kernel wrote before, and the
// store of the tail releases them only when they have been read, because the kernel writes over what lies before it.
FATHOM_PUBLIC_INLINE uint32_t fathom_take_events(void *ring, size_t size, uint64_t major_id, uint32_t woken_at,
                                                 struct fathom_event *records, uint32_t room, uint64_t *lost) {
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)ring;
    const char *data = (const char *)ring + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    uint32_t count = 0;
    while (head - tail >= sizeof(struct perf_event_header) && count < room) {
        union {
            struct perf_event_header header;
            // Of a switch: pid, tid; time; cpu, reserved. Of a fault: identifier; pid, tid; time. Of lost ones: id,
            // number; what else stands behind records of the event. Of a waking: pid, tid; time; the size of what the
            // tracepoint tells, and that, half a word after the size.
            uint64_t words[12];
            char bytes[96];
        } record;
        uint32_t bytes = fathom_copy_record(data, size, tail, &record, sizeof record);
        if (!bytes) break;
        if (record.header.type == PERF_RECORD_SWITCH && bytes >= 32) {
            uint32_t flags = record.header.misc & PERF_RECORD_MISC_SWITCH_OUT ? FATHOM_SWITCH_OUT : 0;
            if (flags && record.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) flags |= FATHOM_SWITCH_PREEMPTED;
            records[count++] = (struct fathom_event){record.words[2], (uint32_t)(record.words[1] >> 32),
                                                     (uint16_t)record.words[3], (uint16_t)flags};
        } else if (record.header.type == PERF_RECORD_SAMPLE && woken_at) {
            // What the tracepoint tells begins with its number, of 16 bits, and flags that say what was interrupted.
            const char *told = record.bytes + 28;
            uint32_t woken, waker = (uint32_t)(record.words[1] >> 32);
            if (bytes >= 28 + woken_at + sizeof woken) {
                memcpy(&woken, told + woken_at, sizeof woken);
                if (told[2] & FATHOM_IN_INTERRUPT) waker = 0;
                records[count++] = fathom_waking(record.words[2], woken, waker);
            }
        } else if (record.header.type == PERF_RECORD_SAMPLE && bytes >= 32) {
            uint32_t flags = record.words[1] == major_id ? FATHOM_FAULT_MAJOR : 0;
            records[count++] =
                (struct fathom_event){record.words[3], (uint32_t)(record.words[2] >> 32), 0, (uint16_t)flags};
        } else if (record.header.type == PERF_RECORD_LOST && bytes >= 24) {
            *lost += record.words[2];
        }
        tail += record.header.size;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return count;
}

#endif
