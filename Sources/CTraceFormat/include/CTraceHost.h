// What the recorder needs of the machine, in C because Swift cannot call it: futexes, fork, scheduling attributes,
// leases, the kernel's clocks and CPUID.

#ifndef CTRACEHOST_H
#define CTRACEHOST_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "CTraceFormat.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// Sleeps for `nanoseconds` if *word is `expected`. A wake or a signal ends the sleep earlier.
FATHOM_PUBLIC_INLINE void fathom_wait32(uint32_t *word, uint32_t expected, uint64_t nanoseconds) {
    struct timespec timeout = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, NULL, 0);
}

FATHOM_PUBLIC_INLINE void fathom_wake32(uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

FATHOM_PUBLIC_INLINE void fathom_wake_all32(uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, 0x7fffffff, NULL, NULL, 0);
}

// Calls fork. Swift hides fork, because the child has only the one thread that called it. Call this only in a process
// that has one thread.
FATHOM_PUBLIC_INLINE int fathom_fork(void) { return fork(); }

// Makes the calling thread a batch thread (SCHED_BATCH) with short time slices. When it wakes, it interrupts no other
// thread, but waits until a processor is free or a time slice is over; then it runs before others, because its own
// slices are short (sched(7); Linux 6.12 and later heed it). A thread with a policy of its own stays as it is.
FATHOM_PUBLIC_INLINE void fathom_yield_to_others(uint64_t slice_ns) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes;  // struct sched_attr, on which headers disagree
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) || attributes.policy != 0) return;
    attributes.policy = 3;
    attributes.runtime = slice_ns;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

// lseek(2): the next data, and the next hole.
#define FATHOM_SEEK_DATA 3
#define FATHOM_SEEK_HOLE 4

// pipe2(2) with O_CLOEXEC: what another thread starts at this very moment inherits neither end. 0, or -1 and errno.
FATHOM_PUBLIC_INLINE int fathom_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, 02000000); }
// What poll(2) tells when the other side of a connection will send no more (POLLRDHUP).
#define FATHOM_POLL_HANGUP 0x2000

// A file that is only in memory, for whoever has the descriptor (memfd_create(2)); -1 where the system refuses.
FATHOM_PUBLIC_INLINE int fathom_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1u);  // MFD_CLOEXEC
}

// Moves the pages of a mapping to other addresses, which lose what was mapped there; the old ones stay mapped, without
// pages (MREMAP_MAYMOVE, MREMAP_FIXED and MREMAP_DONTUNMAP, since Linux 5.7). 0: they were not moved.
FATHOM_PUBLIC_INLINE int fathom_move_pages(void *from, void *to, size_t size) {
    return syscall(SYS_mremap, from, size, size, 1 | 2 | 4, to) == (long)to;
}

// MAP_FIXED_NOREPLACE of mmap(2), since Linux 4.17.
#define FATHOM_MAP_FREE 0x100000

// A piece of memory: struct iovec, which Swift takes for one of another module where two headers have it.
struct fathom_memory {
    uint64_t address;
    uint64_t size;
};

// Copies `count` pieces of another process's memory to `to`, one after the other, as far as that leads
// (process_vm_readv(2)). The result is how many bytes were copied; -1 if none could be.
FATHOM_PUBLIC_INLINE long fathom_copy_memory(int pid, void *to, unsigned long size, const struct fathom_memory *pieces,
                                             unsigned long count) {
    struct fathom_memory all = {(uint64_t)(uintptr_t)to, size};
    return syscall(SYS_process_vm_readv, pid, &all, 1ul, pieces, count, 0ul);
}

// <fcntl.h> is not included: it has struct stat, which Swift would then take for this module's.
#define FATHOM_SETLEASE 1024  // F_SETLEASE
#define FATHOM_READ_LEASE 0   // F_RDLCK
#define FATHOM_NO_LEASE 2     // F_UNLCK

// O_DIRECT, which <fcntl.h> hides without _GNU_SOURCE.
#if defined(__aarch64__)
#define FATHOM_DIRECT 0200000
#else
#define FATHOM_DIRECT 040000
#endif

// Whether a file lies in memory. tmpfs allows direct writing, and copies all the same.
FATHOM_PUBLIC_INLINE int fathom_is_in_memory(int descriptor) {
    struct statfs system;
    return !fstatfs(descriptor, &system) && system.f_type == 0x01021994;  // TMPFS_MAGIC of statfs(2)
}

// Asks for a read lease on a file and gives it back. The result is 0 when the lease was granted, which is when nobody
// has the file open for writing. Swift cannot call fcntl, which is variadic.
FATHOM_PUBLIC_INLINE int fathom_try_lease(int descriptor) {
    if (syscall(SYS_fcntl, descriptor, FATHOM_SETLEASE, FATHOM_READ_LEASE)) return -1;
    return (int)syscall(SYS_fcntl, descriptor, FATHOM_SETLEASE, FATHOM_NO_LEASE);
}

// A moment by one of the kernel's clocks, in ns. It asks the kernel itself, as the runtime does: clock_gettime may be
// that of a preloaded library, which shows programs another time, or one that stands still.
FATHOM_PUBLIC_INLINE uint64_t fathom_clock_time(int clock) {
    struct timespec now = {0, 0};
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_clock_gettime), "D"((long)clock), "S"(&now)
                     : "rcx", "r11", "memory");
#elif defined(__aarch64__)
    register long number __asm__("x8") = SYS_clock_gettime;
    register long result __asm__("x0") = clock;
    register struct timespec *place __asm__("x1") = &now;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(number), "r"(place) : "memory");
#else
    clock_gettime(clock, &now);
#endif
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Whether the counter runs at one rate in all power states (Intel SDM vol. 3, "Invariant TSC"). Whether the counters of
// all CPUs agree is another question, which only the kernel can answer.
FATHOM_PUBLIC_INLINE int fathom_counter_is_invariant(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d;
    return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d >> 8 & 1);
#else
    return 1;
#endif
}

#endif
