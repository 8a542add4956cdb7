#define _GNU_SOURCE
#include "system.h"

#include "CTraceRuntimeHost.h"
#include "calls.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

FATHOM_WITHOUT_HOOKS

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

long system_open(const char *path, int flags) { return SYSTEM(openat, AT_FDCWD, path, flags | O_CLOEXEC, 0, 0, 0); }

long system_open_session(const char *path) {
    long descriptor = system_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) return descriptor;
    struct stat file;
    if (system_status(descriptor, &file) == 0 && S_ISREG(file.st_mode) &&
        (file.st_uid == 0 || file.st_uid == (uid_t)SYSTEM(geteuid, 0, 0, 0, 0, 0, 0) ||
         file.st_uid == (uid_t)SYSTEM(getuid, 0, 0, 0, 0, 0, 0)))
        return descriptor;
    system_close(descriptor);
    return -EPERM;
}

void system_close(long descriptor) { SYSTEM(close, descriptor, 0, 0, 0, 0, 0); }

long system_read(long descriptor, void *bytes, size_t size) {
    long result;
    do result = SYSTEM(read, descriptor, bytes, size, 0, 0, 0);
    while (result == -EINTR);
    return result;
}

long system_read_link(const char *path, char *target, size_t room) {
    return SYSTEM(readlinkat, AT_FDCWD, path, target, room, 0, 0);
}

long system_directory(char *path, size_t room) { return SYSTEM(getcwd, path, room, 0, 0, 0, 0); }

size_t system_program_path(char *path, size_t room) {
    long size = system_read_link("/proc/self/exe", path, room);
    if (size > 0) return (size_t)size;
    // Without /proc, this is the path as the program was started.
    const char *name = (const char *)getauxval(AT_EXECFN);
    if (!name) return 0;
    size = 0;
    if (name[0] != '/' && (size = system_directory(path, room)) > 0) path[size - 1] = '/';
    if (size < 0) return 0;
    while (*name && (size_t)size < room) path[size++] = *name++;
    return (size_t)size;
}

// getauxval cannot be called before this library is relocated. Then this still reads as it is in the file, which is 0.
static const void *const relocated = &system_keeps_traps;

unsigned long fathom_auxiliary(unsigned long type) {
    if (*(const void *const volatile *)&relocated) return getauxval(type);
    long descriptor = system_open("/proc/self/auxv", O_RDONLY);
    if (descriptor < 0) return 0;
    unsigned long pair[2] = {1, 0};
    while (pair[0] && system_read(descriptor, pair, sizeof pair) == sizeof pair)
        if (pair[0] == type) break;
    system_close(descriptor);
    return pair[0] == type ? pair[1] : 0;
}

uint64_t system_size(long descriptor) {
    long end = SYSTEM(lseek, descriptor, 0, SEEK_END, 0, 0, 0);
    return end > 0 ? (uint64_t)end : 0;
}

long system_status(long descriptor, struct stat *status) { return SYSTEM(fstat, descriptor, status, 0, 0, 0, 0); }

uint64_t system_inode(long descriptor) {
    struct stat file;
    return system_status(descriptor, &file) == 0 ? file.st_ino : 0;
}

static void *map(long descriptor, uint64_t offset, size_t size, int flags) {
    long result = SYSTEM(mmap, 0, size, PROT_READ | PROT_WRITE, flags, descriptor, offset);
    return result < 0 && result > -4096 ? NULL : (void *)result;
}

void *system_map_file(long descriptor, uint64_t offset, size_t size) {
    void *memory = map(descriptor, offset, size, MAP_SHARED);
    if (memory) SYSTEM(madvise, memory, size, MADV_DONTDUMP, 0, 0, 0);
    return memory;
}

void *system_map_following(void *end, size_t size) {
    // With a size of 0, mremap makes a second mapping of the same part of the file, which may be longer than the first.
    char *known = (char *)end - PAGE_SIZE;
    long result = SYSTEM(mremap, known, 0, PAGE_SIZE + size, MREMAP_MAYMOVE, 0, 0);
    if (result < 0 && result > -4096) return NULL;
    system_free((void *)result, PAGE_SIZE);
    return (char *)result + PAGE_SIZE;
}

void *system_map_anew(const char *path, uint64_t inode, uint64_t offset, size_t size) {
    long descriptor = system_open_session(path);
    if (descriptor < 0) return NULL;
    void *memory = system_inode(descriptor) == inode ? system_map_file(descriptor, offset, size) : NULL;
    system_close(descriptor);
    return memory;
}

void *system_allocate(size_t size) { return map(-1, 0, size, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE); }

void *system_allocate_at(uintptr_t address, size_t size) {
    uintptr_t memory = (uintptr_t)SYSTEM(mmap, address, size, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory == address) return (void *)memory;
    // Before Linux 4.17, the address is a wish.
    if (memory < -4095ul) system_free((void *)memory, size);
    return NULL;
}

int system_shadow(void *start, size_t size) {
    long result = SYSTEM(mmap, start, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return result == (long)start;
}

int system_map_over(void *start, long descriptor, uint64_t offset, size_t size) {
    long result = SYSTEM(mmap, start, size, PROT_READ, MAP_SHARED | MAP_FIXED, descriptor, offset);
    if (result == (long)start) {
        SYSTEM(madvise, start, size, MADV_DONTDUMP, 0, 0, 0);
        return 1;
    }
    system_shadow(start, size);  // the kernel may have taken away what was there before it failed
    return 0;
}

void system_free(void *memory, size_t size) { SYSTEM(munmap, memory, size, 0, 0, 0, 0); }

long system_protect(uintptr_t low, uintptr_t high, int rights) {
    return SYSTEM(mprotect, low, high - low, rights, 0, 0, 0);
}

void system_wipe_on_fork(void *start, size_t size) { SYSTEM(madvise, start, size, MADV_WIPEONFORK, 0, 0, 0); }

int system_copy(uint32_t process, void *to, const void *from, size_t size) {
    struct iovec local = {to, size}, remote = {(void *)from, size};
    return SYSTEM(process_vm_readv, process, &local, 1, &remote, 1, 0) == (long)size;
}

long system_populate(void *start, size_t size) {
    long result = SYSTEM(madvise, start, size, MADV_POPULATE_WRITE, 0, 0, 0);
    if (result != -EINVAL) return result;
    // Before Linux 5.14: lets the kernel write into each page without changing anything, by or-ing 0 to a word. Where
    // the kernel cannot, it says so instead of raising SIGBUS.
    for (char *page = start; page < (char *)start + size; page += 4096) {
        result = SYSTEM(futex, page, FUTEX_WAKE_OP, 0, 0, page, FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));
        if (result < 0) return result;
    }
    return 0;
}

uint32_t system_process_id(void) { return (uint32_t)SYSTEM(getpid, 0, 0, 0, 0, 0, 0); }

uint32_t system_parent_id(void) { return (uint32_t)SYSTEM(getppid, 0, 0, 0, 0, 0, 0); }

uint32_t system_thread_id(void) { return (uint32_t)SYSTEM(gettid, 0, 0, 0, 0, 0, 0); }

int system_is_process(uint32_t id) { return SYSTEM(kill, id, 0, 0, 0, 0, 0) != -ESRCH; }

int system_is_thread(uint32_t process, uint32_t id) { return SYSTEM(tgkill, process, id, 0, 0, 0, 0) != -ESRCH; }

// A kernel without seccomp, and an emulator, do not know the question.
uint32_t system_seccomp_mode(void) {
    long mode = SYSTEM(prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
    return mode == -EINVAL ? 0 : (uint32_t)mode;
}

long system_scheduler(void) { return SYSTEM(sched_getscheduler, 0, 0, 0, 0, 0, 0); }

uint64_t system_stack_limit(void) {
    struct rlimit limit = {0, 0};
    SYSTEM(prlimit64, 0, RLIMIT_STACK, 0, &limit, 0, 0);
    return limit.rlim_cur;
}

long system_usage(struct rusage *usage) { return SYSTEM(getrusage, RUSAGE_THREAD, usage, 0, 0, 0, 0); }

void system_own_name(char name[16]) { SYSTEM(prctl, PR_GET_NAME, name, 0, 0, 0, 0); }

// Reads what the kernel tells of a thread of the process, in the file of that name, from its beginning.
static long read_of_thread(uint32_t id, const char name[5], char *bytes, size_t size) {
    char path[sizeof "/proc/self/task//stat" + 10] = "/proc/self/task/";
    char *end = text_append_number(path + text_length(path), id);
    *end = '/';
    __builtin_memcpy(end + 1, name, 5);
    long descriptor = system_open(path, O_RDONLY);
    if (descriptor < 0) return descriptor;
    long found = system_read(descriptor, bytes, size);
    system_close(descriptor);
    return found;
}

void system_thread_name(uint32_t id, char name[16]) {
    char found[16] = {0};
    long size = read_of_thread(id, "comm", found, sizeof found);
    if (size <= 0) return;
    found[size - 1] = 0;  // a newline
    __builtin_memcpy(name, found, sizeof found);
}

int system_thread_sleeps(uint32_t id) {
    char stat[128] = {0};
    long size = read_of_thread(id, "stat", stat, sizeof stat - 2);
    // The state follows the name, which is in parentheses and may have some.
    while (size > 0 && stat[size - 1] != ')') size--;
    return size > 0 && (stat[size + 1] == 'S' || stat[size + 1] == 'D');
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now = {0, 0};
    SYSTEM(clock_gettime, clock, &now, 0, 0, 0, 0);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

uint64_t system_monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

uint64_t system_processor_ns(void) { return clock_ns(CLOCK_THREAD_CPUTIME_ID); }

// The kernel's number of the clock of a thread, as pthread_getcpuclockid gives it.
uint64_t system_thread_processor_ns(uint32_t id) { return clock_ns((clockid_t)(~id << 3 | 6)); }

void system_wake(uint32_t *futex) { SYSTEM(futex, futex, FUTEX_WAKE, 1, 0, 0, 0); }

void system_await(uint32_t *futex, uint32_t expected, uint64_t nanoseconds) {
    struct timespec time = {0, (long)nanoseconds};
    SYSTEM(futex, futex, FUTEX_WAIT, expected, &time, 0, 0);
}

void system_sleep(uint64_t nanoseconds) {
    struct timespec time = {0, (long)nanoseconds};
    SYSTEM(nanosleep, &time, 0, 0, 0, 0, 0);
}

void system_wait(uint32_t tries) {
    if (tries < 16) SYSTEM(sched_yield, 0, 0, 0, 0, 0, 0);
    else system_sleep(50000);
}

// The kernel reads the word, as a signal set, before it finds that the call's other argument is invalid (Abseil's
// AddressIsReadable). process_vm_readv would do as well, but sandboxes kill a program for it.
int system_is_readable(const void *address) {
    return SYSTEM(rt_sigprocmask, -1, address, 0, sizeof(uint64_t), 0, 0) == -EINVAL;
}

// The kernel compares, and then moves none of those who wait there.
int system_holds(const void *address, uint32_t bits) {
    long result = SYSTEM(futex, address, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0, address, bits);
    return result != -EAGAIN && result != -EFAULT;
}

// The kernel adds 0 to the word, all at once.
int system_is_writable(void *address) {
    uint32_t none = 0;
    return SYSTEM(futex, &none, FUTEX_WAKE_OP, 0, 0, address, FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0;
}

int system_can_read(const void *memory, size_t size) {
    if (!size) return 1;
    uintptr_t first = (uintptr_t)memory, last = first + size - 1;
    if (last < first) return 0;
    // A word at the beginning of each page; in the first one, the word that holds the first byte.
    for (uintptr_t word = first & ~7ul; word <= last; word = (word & ~4095ul) + 4096)
        if (!system_is_readable((const void *)word)) return 0;
    return 1;
}

#define NO_PAGE 1ul
// Whether the byte can be read. `page` is the last one that could, because what is looked at lies close together.
static int can_read_byte(const void *byte, uintptr_t *page) {
    uintptr_t here = (uintptr_t)byte & ~4095ul;
    if (here == *page) return 1;
    if (!system_is_readable((const void *)((uintptr_t)byte & ~7ul))) return 0;
    *page = here;
    return 1;
}

static int can_read_text(const char *text, uintptr_t *page) {
    for (;; text++) {
        if (!can_read_byte(text, page)) return 0;
        if (!*text) return 1;
    }
}

int system_can_read_text(const char *text) {
    uintptr_t page = NO_PAGE;
    return can_read_text(text, &page);
}

int system_can_read_texts(char *const *texts) {
    uintptr_t list = NO_PAGE, page = NO_PAGE;
    for (;; texts++) {
        if (!can_read_byte(texts, &list) || !can_read_byte((const char *)(texts + 1) - 1, &list)) return 0;
        if (!*texts) return 1;
        if (!can_read_text(*texts, &page)) return 0;
    }
}

int system_socket_type(int descriptor) {
    int type = 0;
    socklen_t size = sizeof type;
    return SYSTEM(getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &size, 0) ? 0 : type;
}

long system_socket_name(int descriptor, void *address, uint32_t *size) {
    return SYSTEM(getsockname, descriptor, address, size, 0, 0, 0);
}

long system_socket_peer(int descriptor, void *address, uint32_t *size) {
    return SYSTEM(getpeername, descriptor, address, size, 0, 0, 0);
}

void system_fail(const char *what) {
    SYSTEM(write, 2, "fathom: this does not hold: ", 28, 0, 0, 0);
    SYSTEM(write, 2, what, text_length(what), 0, 0, 0);
    SYSTEM(write, 2, "\n", 1, 0, 0, 0);
    __builtin_trap();
}

uint32_t system_keeps_traps;

// How often the thread has blocked signals and not yet restored them.
static __thread uint32_t blocks __attribute__((tls_model("initial-exec")));

void system_touch_stack(size_t room) {
    if (blocks) return;  // whoever comes first touches enough for all
    // Reading does it. A stack's guard may be a single page.
    uintptr_t sp = (uintptr_t)__builtin_frame_address(0);
    for (size_t below = 0; below < room;) {
        below = room - below > 4096 ? below + 4096 : room;
        (void)*(const volatile char *)(sp - below);
    }
}

int system_has_stack(size_t room) {
    return blocks || system_can_read((const char *)__builtin_frame_address(0) - room, room);
}

void system_mask_signals(int how, uint64_t mask, uint64_t *before) {
    SYSTEM(rt_sigprocmask, how, &mask, before, sizeof mask, 0, 0);
}

uint64_t system_block_signals(void) { return system_block_signals_within(STACK_ROOM); }

uint64_t system_block_signals_within(size_t room) {
    system_touch_stack(room);
    blocks++;
    // What this calls may be the program's own, as a dl_iterate_phdr, and hit a trap.
    uint64_t all = system_keeps_traps ? ~(1ull << (SIGTRAP - 1)) : UINT64_MAX, blocked = 0;
    system_mask_signals(SIG_BLOCK, all, &blocked);
    return blocked;
}

void system_restore_signals(uint64_t blocked) {
    blocks--;
    system_mask_signals(SIG_SETMASK, blocked, NULL);
}

long system_signal_stack(void *stack) { return SYSTEM(sigaltstack, 0, stack, 0, 0, 0, 0); }

void system_signal_thread(int signal, const void *info) {
    uint32_t process = system_process_id(), thread = system_thread_id();
    if (info) SYSTEM(rt_tgsigqueueinfo, process, thread, signal, info, 0, 0);
    else SYSTEM(tgkill, process, thread, signal, 0, 0, 0);
}

void system_signal_process(int signal, const void *info) {
    uint32_t process = system_process_id();
    if (!info || SYSTEM(rt_sigqueueinfo, process, signal, info, 0, 0, 0)) SYSTEM(kill, process, signal, 0, 0, 0, 0);
}

#if defined(__x86_64__)

#define RESTORER 0x04000000ul
void fathom_trap_return(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
        ".globl fathom_trap_return\n"
        ".hidden fathom_trap_return\n"
        ".type fathom_trap_return, @function\n"
        "fathom_trap_return:\n"
        "movq $15, %rax\n"  // rt_sigreturn
        "syscall\n"
        ".size fathom_trap_return, . - fathom_trap_return\n"
        ".popsection\n");

long system_act(int signal, struct system_action action) {
    action.flags |= RESTORER;
    action.restorer = fathom_trap_return;
    return SYSTEM(rt_sigaction, signal, &action, 0, sizeof action.mask, 0, 0);
}

void *system_handler(int signal) {
    struct system_action action = {0};
    SYSTEM(rt_sigaction, signal, 0, &action, sizeof action.mask, 0, 0);
    return action.handler;
}

#endif

FATHOM_WITHOUT_HOOKS_END
