// System calls, which no other room makes by itself (host/calls.h). They leave errno alone, are no cancellation points,
// and reach the kernel even when the traced program defines functions of the same names. Where nothing else is said,
// they return the kernel's value, -errno on failure, and are async-signal-safe.

#ifndef FATHOM_SYSTEM_H
#define FATHOM_SYSTEM_H

#include "vectors.h"

#include <stddef.h>
#include <stdint.h>

#define INTERNAL static inline __attribute__((always_inline, no_instrument_function, unused))

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
long system_read_link(const char *path, char *target, size_t room);  // the size of what it leads to, without a NUL
long system_directory(char *path, size_t room);                      // the working directory; its size, with a NUL
// Absolute path of the program, without a NUL; 0 when it cannot be told. Returns its size.
size_t system_program_path(char *path, size_t room);
struct stat;
long system_status(long descriptor, struct stat *status);
uint64_t system_inode(long descriptor);  // of a file; 0 when it cannot be told
uint64_t system_size(long descriptor);   // of a file, in bytes; 0 when it cannot be told
// Maps `size` bytes of a file shared and writable. NULL on failure.
void *system_map_file(long descriptor, uint64_t offset, size_t size);
// Maps the `size` bytes of a shared file that follow, in the file, what is mapped up to `end`. NULL on failure.
void *system_map_following(void *end, size_t size);
// The same of any part of a session's file, by its path; NULL also where another file than `inode` has that by now. For
// emulators such as qemu, which cannot map a second time what is mapped already.
void *system_map_anew(const char *path, uint64_t inode, uint64_t offset, size_t size);
// Zeroed private memory. NULL on failure.
void *system_allocate(size_t size);
// The same at a place where nothing is. NULL also where something is.
void *system_allocate_at(uintptr_t address, size_t size);
void system_free(void *memory, size_t size);
// Replaces a mapping by zeroed private memory. 0 on failure.
int system_shadow(void *start, size_t size);
// Replaces a mapping by a part of a file, shared, that can only be read. 0 on failure; then zeros are there.
int system_map_over(void *start, long descriptor, uint64_t offset, size_t size);
// Changes the rights (PROT_*) of pages.
long system_protect(uintptr_t low, uintptr_t high, int rights);
// The kernel empties these pages in a fork's child.
void system_wipe_on_fork(void *start, size_t size);
// Copies memory of this process, which may go away meanwhile, by its number or that of one of its threads. 0 on
// failure.
int system_copy(uint32_t process, void *to, const void *from, size_t size);
// Makes sure that writing to [start, start + size) cannot fault fatally, by allocating file blocks and pages now. 0 on
// success, -errno when the file system is full.
long system_populate(void *start, size_t size);
uint32_t system_process_id(void);
uint32_t system_parent_id(void);
uint32_t system_thread_id(void);
int system_is_process(uint32_t id);  // whether there is one of that number
int system_is_thread(uint32_t process, uint32_t id);
uint32_t system_seccomp_mode(void);  // of the calling thread; a sandbox may end the program for asking
long system_scheduler(void);         // SCHED_*, of the calling thread
uint64_t system_stack_limit(void);   // in bytes; 0 when it cannot be told
struct rusage;
long system_usage(struct rusage *usage);  // of the calling thread
void system_own_name(char name[16]);      // of the calling thread
void system_thread_name(uint32_t id,
                        char name[16]);  // of any thread of the process; left as it is when it is not known
uint64_t system_monotonic_ns(void);
uint64_t system_processor_ns(void);                // processor time of the calling thread
uint64_t system_thread_processor_ns(uint32_t id);  // of a thread of this process; 0 when there is none
// Whether a thread of this process waits, and does not want a CPU. Opens a file.
int system_thread_sleeps(uint32_t id);
// Waits to be woken while *futex is `expected`; less than a second.
void system_await(uint32_t *futex, uint32_t expected, uint64_t nanoseconds);
void system_wake(uint32_t *futex);
void system_sleep(uint64_t nanoseconds);  // under a second; shorter when a signal comes
// Lets other threads run that are to change something. Yields at first, and later sleeps, because a thread of the
// program's highest real-time priority would yield to itself for ever.
void system_wait(uint32_t tries);
// Whether the word at `address` can be read.
int system_is_readable(const void *address);
// Whether the 32 bits at `address` are these, as far as can be told; not where nothing can be read.
int system_holds(const void *address, uint32_t bits);
// Whether it can be written. It stays as it is.
int system_is_writable(void *address);
// Whether all of the memory can be read. O(pages).
int system_can_read(const void *memory, size_t size);
// The same for a text that ends with NUL, and for a list of such texts that ends with NULL; 0 for NULL.
int system_can_read_text(const char *text);
int system_can_read_texts(char *const *texts);
// What a socket is, SOCK_*; 0: it is none. And the addresses of its ends, as getsockname and getpeername tell them.
int system_socket_type(int descriptor);
long system_socket_name(int descriptor, void *address, uint32_t *size);
long system_socket_peer(int descriptor, void *address, uint32_t *size);
// Writes to standard error what does not hold, and ends the program.
__attribute__((noreturn)) void system_fail(const char *what);
// A program may survive that its stack overflows, by a handler that runs on another stack and jumps away. The kernel
// ends it if SIGSEGV is blocked then. So what is done while signals are blocked finds its stack there: the outermost
// one who blocks them has touched it before, where the handler may still come.
#define STACK_ROOM 2560u        // bytes; more than what is done while signals are blocked takes as a rule
#define STACK_ROOM_SMALL 1024u  // what has to be done on stacks of any size
#define STACK_ROOM_LISTS 4096u  // going through lists of modules
#define STACK_ROOM_SLEDS 7168u  // the same where it is about sleds, and vector registers are kept
void system_touch_stack(size_t room);
// Whether there is so much of it. Nothing faults where there is not, as on the small stack of a handler of signals.
// What there is has been touched then.
int system_has_stack(size_t room);
// Blocks all signals of the thread, and returns those that were blocked before. It is used around everything in whose
// middle a handler must not fork, because the child would go on with it in memory that it shares with its parent. Calls
// may nest.
uint64_t system_block_signals(void);
uint64_t system_block_signals_within(size_t room);  // what is done meanwhile takes no more stack
// Not 0 where SIGTRAP is never blocked, because code has traps of ours.
extern uint32_t system_keeps_traps __attribute__((visibility("hidden")));
void system_restore_signals(uint64_t blocked);
// The stack for signal handlers of the calling thread: a stack_t.
long system_signal_stack(void *stack);
// What the calling thread has blocked, a bit for each signal: `how` is SIG_*, and `before` may be NULL.
void system_mask_signals(int how, uint64_t mask, uint64_t *before);
// An action as the kernel takes it. Its handler returns to `restorer`, which system_act sets.
struct system_action {
    void *handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
long system_act(int signal, struct system_action action);
void *system_handler(int signal);
// Sends a signal to the calling thread, or to its process; `info`, a siginfo_t, may be NULL. Only the main thread may
// say in it that another process has sent it: elsewhere it is left out.
void system_signal_thread(int signal, const void *info);
void system_signal_process(int signal, const void *info);

// The process's mappings, as /proc/self/maps says.

struct mapping {
    uintptr_t low, high;
    int rights;  // PROT_*
};

// The mapping that holds `address`, or the first one above it. 0 when there is none, or when it cannot be told.
// Takes LOCK_MAPS.
int maps_find(uintptr_t address, struct mapping *found);

#endif
