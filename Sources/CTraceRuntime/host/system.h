// System calls, made directly. So they leave errno alone, are no cancellation points, and reach the kernel even when
// the traced program defines functions of the same names. All return the kernel's value, -errno on failure.

#ifndef FATHOM_SYSTEM_H
#define FATHOM_SYSTEM_H

#include "vectors.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#define INTERNAL static inline __attribute__((always_inline, no_instrument_function, unused))

#if defined(__x86_64__)
INTERNAL long system_call(long number, long a, long b, long c, long d, long e, long f) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ __volatile__("syscall"
                         : "=a"(result)
                         : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
INTERNAL long system_call(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ __volatile__("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "the runtime knows x86-64 and aarch64"
#endif

#define SYSTEM(name, a, b, c, d, e, f)                                                                                 \
    system_call(SYS_##name, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

// The largest page that the kernel may use. Populated ranges are aligned to it.
#if defined(__x86_64__)
#define PAGE_SIZE 4096ul
#else
#define PAGE_SIZE 65536ul
#endif

long system_open(const char *path, int flags);
void system_close(long descriptor);
// Opens a file of a session to read and write it. The session's path comes from the environment, and may be somebody
// else's by now: what is mapped there is trusted, so it is a plain file of root's or of this process's user, and no
// link.
long system_open_session(const char *path);
long system_read(long descriptor, void *bytes, size_t size);
// Absolute path of the program, without a NUL; 0 when it cannot be told. Returns its size.
size_t system_program_path(char *path, size_t room);
uint64_t system_inode(long descriptor);  // of a file; 0 when it cannot be told
uint64_t system_size(long descriptor);   // of a file, in bytes; 0 when it cannot be told
// Maps `size` bytes of a file shared and writable. NULL on failure.
void *system_map_file(long descriptor, uint64_t offset, size_t size);
// Maps the `size` bytes of a shared file that follow, in the file, what is mapped up to `end`. NULL on failure.
void *system_map_following(void *end, size_t size);
// Zeroed private memory. NULL on failure.
void *system_allocate(size_t size);
void system_free(void *memory, size_t size);
// Replaces a mapping by zeroed private memory. 0 on failure.
int system_shadow(void *start, size_t size);
// Replaces a mapping by a part of a file, shared, that can only be read. 0 on failure; then zeros are there.
int system_map_over(void *start, long descriptor, uint64_t offset, size_t size);
// Makes sure that writing to [start, start + size) cannot fault fatally, by allocating file blocks and pages now. 0 on
// success, -errno when the file system is full.
long system_populate(void *start, size_t size);
uint32_t system_process_id(void);
uint32_t system_thread_id(void);
void system_thread_name(uint32_t id,
                        char name[16]);  // of any thread of the process; left as it is when it is not known
uint64_t system_monotonic_ns(void);
uint64_t system_processor_ns(void);  // processor time of the calling thread
// Waits to be woken while *futex is `expected`; less than a second.
void system_await(uint32_t *futex, uint32_t expected, uint64_t nanoseconds);
void system_wake(uint32_t *futex);
void system_sleep(uint64_t nanoseconds);  // under a second; shorter when a signal comes
// Lets other threads run that are to change something. Yields at first, and later sleeps, because a thread of the
// program's highest real-time priority would yield to itself for ever.
void system_wait(uint32_t tries);
// Whether the word at `address` can be read.
int system_is_readable(const void *address);
// Whether all of the memory can be read. O(pages).
int system_can_read(const void *memory, size_t size);
// The same for a text that ends with NUL, and for a list of such texts that ends with NULL; 0 for NULL.
int system_can_read_text(const char *text);
int system_can_read_texts(char *const *texts);
// A program may survive that its stack overflows, by a handler that runs on another stack and jumps away. The kernel
// ends it if SIGSEGV is blocked then. So what is done while signals are blocked finds its stack there: the outermost
// one who blocks them has touched it before, where the handler may still come.
#define STACK_ROOM 2560u        // bytes; more than what is done while signals are blocked takes as a rule
#define STACK_ROOM_LISTS 4096u  // going through lists of modules
#define STACK_ROOM_SLEDS 7168u  // the same where it is about sleds, and vector registers are kept
void system_touch_stack(size_t room);
// Blocks all signals of the thread, and returns those that were blocked before. It is used around everything in whose
// middle a handler must not fork, because the child would go on with it in memory that it shares with its parent. Calls
// may nest.
uint64_t system_block_signals(void);
// Not 0 where SIGTRAP is never blocked, because code has traps of ours.
extern uint32_t system_keeps_traps __attribute__((visibility("hidden")));
void system_restore_signals(uint64_t blocked);

#endif
