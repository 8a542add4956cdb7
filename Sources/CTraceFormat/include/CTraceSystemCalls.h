// The kernel's records of system calls: its tracepoints raw_syscalls/sys_enter and sys_exit, by perf_event_open(2).

#ifndef CTRACESYSTEMCALLS_H
#define CTRACESYSTEMCALLS_H

#include "CTraceMetadata.h"
#include "CTracePerf.h"

#define FATHOM_SYSTEM_CALL_ARGUMENTS 6u

#define FATHOM_SYSTEM_CALL_ENTER 0u
#define FATHOM_SYSTEM_CALL_EXIT 1u
#define FATHOM_SYSTEM_CALL_LOST 2u  // the kernel had no room for events before the next one: no thread's are whole

// Stands for numbers that no call has, which programs may pass all the same.
#define FATHOM_SYSTEM_CALL_UNKNOWN 0x7fffff

// A thread enters the kernel, or leaves it.
struct fathom_system_call_event {
    uint64_t ns;  // CLOCK_MONOTONIC
    uint32_t pid, tid;
    uint64_t address;  // behind the instruction of the program that entered the kernel
    int64_t number;    // of the call, as the machine counts them, or FATHOM_SYSTEM_CALL_UNKNOWN
    uint64_t values[FATHOM_SYSTEM_CALL_ARGUMENTS];  // its arguments; of an exit, its result
    uint32_t kind;                                  // FATHOM_SYSTEM_CALL_*
    uint32_t reserved;
};

// Opens an event that tells on one CPU when programs that this thread starts from now on, and all their threads and
// children, enter the kernel or leave it. `id` is the tracepoint's (of tracefs). The result is a descriptor, or -1, and
// errno says why.
FATHOM_PUBLIC_INLINE int fathom_open_system_calls(int cpu, uint64_t id, uint32_t wakeup_bytes) {
    struct perf_event_attr attributes = fathom_event_attributes(id, wakeup_bytes);
    attributes.type = PERF_TYPE_TRACEPOINT;
    attributes.exclude_kernel = 0;
    attributes.sample_period = 1;
    attributes.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;
#if defined(__x86_64__)
    attributes.sample_regs_user = 1ull << 2 | 1ull << 8;  // PERF_REG_X86_CX and PERF_REG_X86_IP
#else
    attributes.sample_regs_user = 1ull << 0 | 1ull << 32;  // PERF_REG_ARM64_X0 and PERF_REG_ARM64_PC
#endif
    return fathom_open_event(&attributes, cpu);
}

// Takes records out of a ring of `size` bytes, a power of two, as fathom_take_events does. `enter` and `leave` are the
// tracepoints' ids. *lost grows by the number of records that the kernel had no room for, and by 1 where the ring is
// full, so that there may be more. Calls by which 32-bit programs, and `int 0x80`, enter the kernel are passed over:
// their numbers mean others. The instruction `syscall` leaves in CX where the program goes on.
FATHOM_PUBLIC_INLINE uint32_t fathom_take_system_calls(void *ring, size_t size, uint64_t enter, uint64_t leave,
                                                       struct fathom_system_call_event *records, uint32_t room,
                                                       uint64_t *lost) {
    struct perf_event_mmap_page *page = (struct perf_event_mmap_page *)ring;
    const char *data = (const char *)ring + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    uint32_t count = 0, has_lost = 0;
    if (head - tail + 4096 > size) *lost += 1, has_lost = 1;
    while (head - tail >= sizeof(struct perf_event_header) && count + 1 < room) {
        union {
            struct perf_event_header header;
            // Of a sample: pid, tid; time; the size of what the tracepoint tells, and that, half a word after the size;
            // whether it is a 64-bit program, and two registers, the latter the address. Of lost ones: id, number.
            uint64_t words[16];
            char bytes[128];
        } record;
        uint32_t bytes = fathom_copy_record(data, size, tail, &record, sizeof record);
        if (!bytes) break;
        tail += record.header.size;
        if (record.header.type == PERF_RECORD_LOST && bytes >= 24) *lost += record.words[2], has_lost = 1;
        if (record.header.type != PERF_RECORD_SAMPLE || bytes < 28 + 8 + 3 * sizeof(uint64_t)) continue;
        if (has_lost)
            records[count++] =
                (struct fathom_system_call_event){.ns = record.words[2] - 1, .kind = FATHOM_SYSTEM_CALL_LOST};
        has_lost = 0;
        uint32_t told;
        uint16_t id;
        memcpy(&told, record.bytes + 24, sizeof told);
        memcpy(&id, record.bytes + 28, sizeof id);
        // What the tracepoint tells: its id and flags, in 8 bytes; the call's number; its arguments, or its result.
        uint32_t values = id == enter ? FATHOM_SYSTEM_CALL_ARGUMENTS : id == leave ? 1 : 0;
        if (!values || told < 16 + values * 8 || 28 + told + 24 > bytes) continue;
        uint64_t from[3];  // the ABI, and the registers
        memcpy(from, record.bytes + 28 + told, sizeof from);
        if (from[0] != PERF_SAMPLE_REGS_ABI_64) continue;
#if defined(__x86_64__)
        if (id == enter && from[1] != from[2]) continue;
#endif
        struct fathom_system_call_event *event = &records[count++];
        *event = (struct fathom_system_call_event){
            .ns = record.words[2],
            .pid = (uint32_t)record.words[1],
            .tid = (uint32_t)(record.words[1] >> 32),
            .address = from[2],
            .kind = id == leave ? FATHOM_SYSTEM_CALL_EXIT : FATHOM_SYSTEM_CALL_ENTER,
        };
        memcpy(&event->number, record.bytes + 28 + 8, sizeof event->number);
        memcpy(event->values, record.bytes + 28 + 16, values * 8);
        if (event->number < 0 || event->number > FATHOM_SYSTEM_CALL_UNKNOWN) event->number = FATHOM_SYSTEM_CALL_UNKNOWN;
    }
    __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
    return count;
}

// A system call is a call of the scope with the id FATHOM_SYSTEM_CALL_IDS plus its number. The layout of its arguments
// has the same id, and that of its result the id FATHOM_SYSTEM_CALL_RESULTS plus its number. No process writes these
// names and layouts: readers know them.
#define FATHOM_SYSTEM_CALL_IDS 0xff000000u
#define FATHOM_SYSTEM_CALL_RESULTS 0xff800000u

#endif
