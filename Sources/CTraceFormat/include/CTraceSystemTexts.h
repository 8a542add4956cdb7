// The texts that arguments of system calls lead to, as the kernel can read them when a call begins: a program of BPF at
// the tracepoint raw_syscalls/sys_enter copies them to a ring (bpf(2), and the kernel's
// Documentation/bpf/ringbuf.rst). It takes CAP_BPF and CAP_PERFMON, as root has them.

#ifndef CTRACESYSTEMTEXTS_H
#define CTRACESYSTEMTEXTS_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CTraceSystemCalls.h"

#define FATHOM_SYSTEM_TEXT_LIMIT 1024u  // bytes of a text, with the NUL that ends it
#define FATHOM_SYSTEM_CALL_COUNT 512u   // numbers of system calls are below this
#define FATHOM_SYSTEM_TEXT_RING (4u << 20)
#define FATHOM_SYSTEM_TEXT_PLACES 5u  // no later argument is a text

// A text that an argument leads to.
struct fathom_system_text {
    uint64_t ns;      // CLOCK_MONOTONIC, not later than the call's event
    uint32_t tid;     // as the whole machine knows it
    uint32_t number;  // of the call
    uint32_t place;   // of the argument
    int32_t size;     // in bytes, with the NUL; FATHOM_SYSTEM_TEXT_LIMIT: it may go on
    char text[FATHOM_SYSTEM_TEXT_LIMIT];
};
FATHOM_OFFSET(fathom_system_text, text, 24);

// Owned by who opened it.
struct fathom_system_texts {
    int processes, places, scratch, output, unread;  // maps
    int programs[3], events[3];                      // the programs, and events that they are at
    unsigned long *consumer;
    const char *producer;  // a page with the kernel's position, and the ring, twice
};

#define FATHOM_SYSTEM_TEXT_DESCRIPTORS 11

FATHOM_PUBLIC_INLINE int fathom_bpf(int command, union bpf_attr *attributes) {
    return (int)syscall(SYS_bpf, command, attributes, sizeof *attributes);
}

FATHOM_PUBLIC_INLINE int fathom_bpf_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_type = type;
    attributes.key_size = key;
    attributes.value_size = value;
    attributes.max_entries = entries;
    return fathom_bpf(BPF_MAP_CREATE, &attributes);
}

FATHOM_PUBLIC_INLINE int fathom_bpf_set(int map, uint32_t key, uint32_t value) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)map;
    attributes.key = (uint64_t)(uintptr_t)&key;
    attributes.value = (uint64_t)(uintptr_t)&value;
    return fathom_bpf(BPF_MAP_UPDATE_ELEM, &attributes);
}

FATHOM_PUBLIC_INLINE int fathom_bpf_program(const struct bpf_insn *code, uint32_t count) {
    union bpf_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.prog_type = BPF_PROG_TYPE_TRACEPOINT;
    attributes.insns = (uint64_t)(uintptr_t)code;
    attributes.insn_cnt = count;
    // The kernel lets programs of other licences read no memory: these instructions may be used by either of the two.
    attributes.license = (uint64_t)(uintptr_t) "Dual MIT/GPL";
    return fathom_bpf(BPF_PROG_LOAD, &attributes);
}

// Instructions, as Documentation/bpf/standardization/instruction-set.rst of the kernel has them.
struct fathom_bpf_code {
    struct bpf_insn code[512];
    uint32_t count;
};
FATHOM_PUBLIC_INLINE void fathom_bpf_put(struct fathom_bpf_code *code, uint32_t operation, uint32_t to, uint32_t from,
                                         int offset, int value) {
    code->code[code->count++] =
        (struct bpf_insn){(uint8_t)operation, (uint8_t)to & 15, (uint8_t)from & 15, (int16_t)offset, value};
}
#define FATHOM_BPF(operation, to, from, offset, value) fathom_bpf_put(code, operation, to, from, offset, value)
#define FATHOM_BPF_MOVE(to, from) FATHOM_BPF(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0)
#define FATHOM_BPF_SET(to, value) FATHOM_BPF(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value)
#define FATHOM_BPF_ADD(to, value) FATHOM_BPF(BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, value)
#define FATHOM_BPF_LOAD(size, to, from, offset) FATHOM_BPF(BPF_LDX | BPF_MEM | (size), to, from, offset, 0)
#define FATHOM_BPF_STORE(size, to, offset, from) FATHOM_BPF(BPF_STX | BPF_MEM | (size), to, from, offset, 0)
#define FATHOM_BPF_CALL(helper) FATHOM_BPF(BPF_JMP | BPF_CALL, 0, 0, 0, helper)
#define FATHOM_BPF_MAP(to, map)                                                                                        \
    (FATHOM_BPF(BPF_LD | BPF_IMM | BPF_DW, to, BPF_PSEUDO_MAP_FD, 0, map), FATHOM_BPF(0, 0, 0, 0, 0))

// Writes: r0 = the element of `map` whose key is in the 4 bytes below r10; the program ends when there is none.
FATHOM_PUBLIC_INLINE void fathom_bpf_lookup(struct fathom_bpf_code *code, int map) {
    FATHOM_BPF_MOVE(2, 10);
    FATHOM_BPF_ADD(2, -4);
    FATHOM_BPF_MAP(1, map);
    FATHOM_BPF_CALL(BPF_FUNC_map_lookup_elem);
    FATHOM_BPF(BPF_JMP | BPF_JNE | BPF_K, 0, 0, 2, 0);
    FATHOM_BPF_SET(0, 1);
    FATHOM_BPF(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

// r6 = the tracepoint's record, r7 = the thread's process and id; ends for processes that nobody follows.
FATHOM_PUBLIC_INLINE void fathom_bpf_begin(struct fathom_bpf_code *code, int processes) {
    FATHOM_BPF_MOVE(6, 1);
    FATHOM_BPF_CALL(BPF_FUNC_get_current_pid_tgid);
    FATHOM_BPF_MOVE(7, 0);
    FATHOM_BPF(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32);
    FATHOM_BPF_STORE(BPF_W, 10, -4, 0);
    fathom_bpf_lookup(code, processes);
}

// The programs return 1, so that the event has its own record, too.
FATHOM_PUBLIC_INLINE void fathom_bpf_end(struct fathom_bpf_code *code) {
    FATHOM_BPF_SET(0, 1);
    FATHOM_BPF(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

// What could not be read when a call began, because it was not in memory. It is read when the call ends: the kernel has
// put it there to read it itself.
struct fathom_unread_texts {
    uint32_t number;
    uint32_t places;  // a bit for each
    uint64_t addresses[FATHOM_SYSTEM_TEXT_PLACES];
};
#define FATHOM_BPF_UNREAD (-72)  // from r10, where the programs keep one of these

// Reads the text at the address in r3, and writes it to the ring. Needs r7 = the thread's id and r9 = the call's
// number. Afterwards, r0 is 0 or less when it could not be read; then nothing is written.
FATHOM_PUBLIC_INLINE void fathom_bpf_read(struct fathom_bpf_code *code, const struct fathom_system_texts *texts,
                                          uint32_t place) {
    FATHOM_BPF_STORE(BPF_DW, 10, -24, 3);
    FATHOM_BPF(BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 0);
    fathom_bpf_lookup(code, texts->scratch);
    FATHOM_BPF_STORE(BPF_DW, 10, -16, 0);
    FATHOM_BPF_STORE(BPF_W, 0, 8, 7);
    FATHOM_BPF_STORE(BPF_W, 0, 12, 9);
    FATHOM_BPF(BPF_ST | BPF_MEM | BPF_W, 0, 0, 16, (int)place);
    FATHOM_BPF_CALL(BPF_FUNC_ktime_get_ns);
    FATHOM_BPF_LOAD(BPF_DW, 1, 10, -16);
    FATHOM_BPF_STORE(BPF_DW, 1, 0, 0);
    FATHOM_BPF_ADD(1, 24);
    FATHOM_BPF_SET(2, FATHOM_SYSTEM_TEXT_LIMIT);
    FATHOM_BPF_LOAD(BPF_DW, 3, 10, -24);
    FATHOM_BPF_CALL(BPF_FUNC_probe_read_user_str);
    FATHOM_BPF(BPF_JMP | BPF_JSGT | BPF_K, 0, 0, 1, 0);
    uint32_t skip = code->count;
    FATHOM_BPF(BPF_JMP | BPF_JA, 0, 0, 0, 0);
    FATHOM_BPF(BPF_JMP | BPF_JLE | BPF_K, 0, 0, 1, FATHOM_SYSTEM_TEXT_LIMIT);
    FATHOM_BPF_SET(0, FATHOM_SYSTEM_TEXT_LIMIT);
    FATHOM_BPF_LOAD(BPF_DW, 2, 10, -16);
    FATHOM_BPF_STORE(BPF_W, 2, 20, 0);
    FATHOM_BPF_MOVE(3, 0);
    FATHOM_BPF_ADD(3, 24);
    FATHOM_BPF_MAP(1, texts->output);
    FATHOM_BPF_SET(4, BPF_RB_NO_WAKEUP);
    FATHOM_BPF_CALL(BPF_FUNC_ringbuf_output);
    FATHOM_BPF_SET(0, 1);
    code->code[skip].off = (int16_t)(code->count - skip - 1);
}

FATHOM_PUBLIC_INLINE int fathom_bpf_load_leave(const struct fathom_system_texts *texts) {
    struct fathom_bpf_code whole = {.count = 0}, *code = &whole;
    fathom_bpf_begin(code, texts->processes);
    FATHOM_BPF_STORE(BPF_W, 10, -4, 7);
    fathom_bpf_lookup(code, texts->unread);
    // The map's element may be another's as soon as it is deleted.
    for (int offset = 0; offset < (int)sizeof(struct fathom_unread_texts); offset += 8) {
        FATHOM_BPF_LOAD(BPF_DW, 1, 0, offset);
        FATHOM_BPF_STORE(BPF_DW, 10, FATHOM_BPF_UNREAD + offset, 1);
    }
    FATHOM_BPF_MOVE(2, 10);
    FATHOM_BPF_ADD(2, -4);
    FATHOM_BPF_MAP(1, texts->unread);
    FATHOM_BPF_CALL(BPF_FUNC_map_delete_elem);
    FATHOM_BPF_LOAD(BPF_W, 9, 10, FATHOM_BPF_UNREAD);
    FATHOM_BPF_LOAD(BPF_W, 8, 10, FATHOM_BPF_UNREAD + 4);
    for (uint32_t place = 0; place < FATHOM_SYSTEM_TEXT_PLACES; place++) {
        FATHOM_BPF(BPF_JMP | BPF_JSET | BPF_K, 8, 0, 1, 1 << place);
        uint32_t skip = code->count;
        FATHOM_BPF(BPF_JMP | BPF_JA, 0, 0, 0, 0);
        FATHOM_BPF_LOAD(BPF_DW, 3, 10, FATHOM_BPF_UNREAD + 8 + 8 * (int)place);
        fathom_bpf_read(code, texts, place);
        code->code[skip].off = (int16_t)(code->count - skip - 1);
    }
    fathom_bpf_end(code);
    return fathom_bpf_program(code->code, code->count);
}

FATHOM_PUBLIC_INLINE int fathom_bpf_load_enter(const struct fathom_system_texts *texts) {
    struct fathom_bpf_code whole = {.count = 0}, *code = &whole;
    fathom_bpf_begin(code, texts->processes);
    FATHOM_BPF_LOAD(BPF_DW, 9, 6, 8);  // the call's number
    FATHOM_BPF(BPF_JMP | BPF_JLT | BPF_K, 9, 0, 2, FATHOM_SYSTEM_CALL_COUNT);
    fathom_bpf_end(code);
    FATHOM_BPF_STORE(BPF_W, 10, -4, 9);
    fathom_bpf_lookup(code, texts->places);
    FATHOM_BPF_LOAD(BPF_W, 8, 0, 0);  // a bit for each argument that is a text
    FATHOM_BPF(BPF_JMP | BPF_JNE | BPF_K, 8, 0, 2, 0);
    fathom_bpf_end(code);
    for (int offset = 0; offset < (int)sizeof(struct fathom_unread_texts); offset += 8)
        FATHOM_BPF(BPF_ST | BPF_MEM | BPF_DW, 10, 0, FATHOM_BPF_UNREAD + offset, 0);
    FATHOM_BPF_STORE(BPF_W, 10, FATHOM_BPF_UNREAD, 9);
    for (uint32_t place = 0; place < FATHOM_SYSTEM_TEXT_PLACES; place++) {
        FATHOM_BPF(BPF_JMP | BPF_JSET | BPF_K, 8, 0, 1, 1 << place);
        uint32_t skip = code->count;
        FATHOM_BPF(BPF_JMP | BPF_JA, 0, 0, 0, 0);
        FATHOM_BPF_LOAD(BPF_DW, 3, 6, 16 + 8 * (int)place);
        fathom_bpf_read(code, texts, place);
        FATHOM_BPF(BPF_JMP | BPF_JSLE | BPF_K, 0, 0, 1, 0);
        uint32_t was_read = code->count;
        FATHOM_BPF(BPF_JMP | BPF_JA, 0, 0, 0, 0);
        FATHOM_BPF_LOAD(BPF_DW, 1, 6, 16 + 8 * (int)place);
        FATHOM_BPF_STORE(BPF_DW, 10, FATHOM_BPF_UNREAD + 8 + 8 * (int)place, 1);
        FATHOM_BPF_LOAD(BPF_W, 1, 10, FATHOM_BPF_UNREAD + 4);
        FATHOM_BPF(BPF_ALU64 | BPF_OR | BPF_K, 1, 0, 0, 1 << place);
        FATHOM_BPF_STORE(BPF_W, 10, FATHOM_BPF_UNREAD + 4, 1);
        code->code[was_read].off = (int16_t)(code->count - was_read - 1);
        code->code[skip].off = (int16_t)(code->count - skip - 1);
    }
    // A call that leads to another program takes its memory with it.
    FATHOM_BPF(BPF_JMP | BPF_JEQ | BPF_K, 9, 0, 2, SYS_execve);
    FATHOM_BPF(BPF_JMP | BPF_JEQ | BPF_K, 9, 0, 1, SYS_execveat);
    FATHOM_BPF(BPF_JMP | BPF_JA, 0, 0, 2, 0);
    fathom_bpf_end(code);
    FATHOM_BPF_LOAD(BPF_W, 1, 10, FATHOM_BPF_UNREAD + 4);
    FATHOM_BPF(BPF_JMP | BPF_JNE | BPF_K, 1, 0, 2, 0);
    fathom_bpf_end(code);
    FATHOM_BPF_STORE(BPF_W, 10, -4, 7);
    FATHOM_BPF_MOVE(2, 10);
    FATHOM_BPF_ADD(2, -4);
    FATHOM_BPF_MOVE(3, 10);
    FATHOM_BPF_ADD(3, FATHOM_BPF_UNREAD);
    FATHOM_BPF_SET(4, 0);
    FATHOM_BPF_MAP(1, texts->unread);
    FATHOM_BPF_CALL(BPF_FUNC_map_update_elem);
    fathom_bpf_end(code);
    return fathom_bpf_program(code->code, code->count);
}

FATHOM_PUBLIC_INLINE int fathom_bpf_load_fork(const struct fathom_system_texts *texts, uint32_t child_at) {
    struct fathom_bpf_code whole = {.count = 0}, *code = &whole;
    fathom_bpf_begin(code, texts->processes);
    FATHOM_BPF_LOAD(BPF_W, 1, 6, (int)child_at);
    FATHOM_BPF_STORE(BPF_W, 10, -4, 1);
    FATHOM_BPF(BPF_ST | BPF_MEM | BPF_W, 10, 0, -8, 1);
    FATHOM_BPF_MOVE(2, 10);
    FATHOM_BPF_ADD(2, -4);
    FATHOM_BPF_MOVE(3, 10);
    FATHOM_BPF_ADD(3, -8);
    FATHOM_BPF_SET(4, 0);
    FATHOM_BPF_MAP(1, texts->processes);
    FATHOM_BPF_CALL(BPF_FUNC_map_update_elem);
    fathom_bpf_end(code);
    return fathom_bpf_program(code->code, code->count);
}

FATHOM_PUBLIC_INLINE void fathom_texts_close(struct fathom_system_texts *texts) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (texts->consumer) munmap(texts->consumer, page);
    if (texts->producer) munmap((void *)texts->producer, page + 2 * FATHOM_SYSTEM_TEXT_RING);
    int *descriptors = &texts->processes;
    for (int i = 0; i < FATHOM_SYSTEM_TEXT_DESCRIPTORS; i++)
        if (descriptors[i] >= 0) close(descriptors[i]);
    memset(texts, 0, sizeof *texts);
    for (int i = 0; i < FATHOM_SYSTEM_TEXT_DESCRIPTORS; i++) descriptors[i] = -1;
}

// Maps the ring; 0 on success.
FATHOM_PUBLIC_INLINE int fathom_texts_map(struct fathom_system_texts *texts) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, texts->output, 0);
    void *producer = mmap(NULL, page + 2 * FATHOM_SYSTEM_TEXT_RING, PROT_READ, MAP_SHARED, texts->output, (off_t)page);
    texts->consumer = consumer == MAP_FAILED ? NULL : consumer;
    texts->producer = producer == MAP_FAILED ? NULL : producer;
    return texts->consumer && texts->producer ? 0 : -1;
}

// Begins to read the texts of this process and of what it starts from now on. `enter`, `leave` and `fork` are the ids
// of the tracepoints sys_enter, sys_exit and sched/sched_process_fork; in the last one's record, the child's id is at
// `child_at`. places[n] has a bit for each argument of call n that is a text. 0, or -1, and errno says why.
FATHOM_PUBLIC_INLINE int fathom_texts_open(struct fathom_system_texts *texts, uint64_t enter, uint64_t leave,
                                           uint64_t fork, uint32_t child_at, const uint32_t *places) {
    memset(texts, 0, sizeof *texts);
    for (int i = 0; i < 3; i++) texts->programs[i] = texts->events[i] = -1;
    texts->processes = fathom_bpf_map(BPF_MAP_TYPE_LRU_HASH, 4, 4, 1 << 16);
    texts->places = fathom_bpf_map(BPF_MAP_TYPE_ARRAY, 4, 4, FATHOM_SYSTEM_CALL_COUNT);
    texts->scratch = fathom_bpf_map(BPF_MAP_TYPE_PERCPU_ARRAY, 4, sizeof(struct fathom_system_text), 1);
    texts->unread = fathom_bpf_map(BPF_MAP_TYPE_LRU_HASH, 4, sizeof(struct fathom_unread_texts), 1 << 14);
    texts->output = fathom_bpf_map(BPF_MAP_TYPE_RINGBUF, 0, 0, FATHOM_SYSTEM_TEXT_RING);
    int failed =
        texts->processes < 0 || texts->places < 0 || texts->scratch < 0 || texts->unread < 0 || texts->output < 0;
    for (uint32_t i = 0; i < FATHOM_SYSTEM_CALL_COUNT && !failed; i++)
        if (places[i]) failed = fathom_bpf_set(texts->places, i, places[i]) != 0;
    if (!failed) {
        texts->programs[0] = fathom_bpf_load_enter(texts);
        texts->programs[1] = fathom_bpf_load_leave(texts);
        texts->programs[2] = fathom_bpf_load_fork(texts, child_at);
    }
    uint64_t points[] = {enter, leave, fork};
    for (int i = 0; i < 3 && !failed; i++) {
        // An event of its own, of one CPU and all threads. The program is run on each CPU; at an event that processes
        // inherit, it was run no more when the first of them had ended.
        struct perf_event_attr attributes = fathom_event_attributes(points[i], 0);
        attributes.type = PERF_TYPE_TRACEPOINT;
        attributes.exclude_kernel = attributes.inherit = attributes.enable_on_exec = 0;
        texts->events[i] = (int)syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
        failed = texts->programs[i] < 0 || texts->events[i] < 0 ||
                 ioctl(texts->events[i], PERF_EVENT_IOC_SET_BPF, texts->programs[i]);
    }
    failed = failed || fathom_texts_map(texts) || fathom_bpf_set(texts->processes, (uint32_t)getpid(), 1);
    if (!failed) return 0;
    int error = errno;
    fathom_texts_close(texts);
    errno = error;
    return -1;
}

// Reads no more of this process: what it has started is known by now.
FATHOM_PUBLIC_INLINE void fathom_texts_leave(const struct fathom_system_texts *texts) {
    union bpf_attr attributes;
    uint32_t key = (uint32_t)getpid();
    memset(&attributes, 0, sizeof attributes);
    attributes.map_fd = (uint32_t)texts->processes;
    attributes.key = (uint64_t)(uintptr_t)&key;
    fathom_bpf(BPF_MAP_DELETE_ELEM, &attributes);
}

// The next text in the ring, NULL when there is none. It is there until fathom_texts_pass, which goes on behind it.
FATHOM_PUBLIC_INLINE const struct fathom_system_text *fathom_texts_next(const struct fathom_system_texts *texts) {
    unsigned long position = *texts->consumer,
                  end = __atomic_load_n((const unsigned long *)texts->producer, __ATOMIC_ACQUIRE);
    if (position >= end) return NULL;
    const char *record = texts->producer + sysconf(_SC_PAGESIZE) + (position & (FATHOM_SYSTEM_TEXT_RING - 1));
    uint32_t size = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
    if (size & BPF_RINGBUF_BUSY_BIT) return NULL;
    return (const struct fathom_system_text *)(record + BPF_RINGBUF_HDR_SZ);
}
FATHOM_PUBLIC_INLINE void fathom_texts_pass(struct fathom_system_texts *texts, const struct fathom_system_text *text) {
    uint32_t size = *(const uint32_t *)((const char *)text - BPF_RINGBUF_HDR_SZ) & ~BPF_RINGBUF_DISCARD_BIT;
    unsigned long whole = (size + BPF_RINGBUF_HDR_SZ + 7u) & ~7ul;
    __atomic_store_n(texts->consumer, *texts->consumer + whole, __ATOMIC_RELEASE);
}

#endif
