// Allocates and frees memory by every function there is for it, and writes down by function what that comes to: calls,
// bytes, blocks and bytes that are live at the end. A line is the function's name and these four numbers, of what it
// allocated itself. Compiled as C++, it also uses new and delete.

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function, noinline))
#define SEEN __attribute__((noinline))

enum { MALLOC, CALLOC, REALLOC, REALLOCARRAY, ALIGNED, STRINGS, MAPS, NEWS, WORKER, CHILD, COUNT };
static const char *const names[COUNT] = {"by_malloc",    "by_calloc", "by_realloc", "by_reallocarray", "by_alignment",
                                         "by_a_library", "by_mmap",   "by_new",     "worker",          "in_child"};
static struct { unsigned long calls, bytes, live_blocks, live; } known[COUNT];

static volatile int errors;
static const volatile size_t everything = SIZE_MAX, too_much = PTRDIFF_MAX;

// A block that the compiler cannot do without.
UNSEEN static void *used(void *block) {
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

UNSEEN static void check(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    errors = 1;
}

UNSEEN static void note(int what, size_t bytes) {
    __atomic_fetch_add(&known[what].calls, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&known[what].bytes, bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&known[what].live_blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&known[what].live, bytes, __ATOMIC_RELAXED);
}

UNSEEN static void note_gone(int what, size_t bytes) {
    __atomic_fetch_sub(&known[what].live_blocks, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&known[what].live, bytes, __ATOMIC_RELAXED);
}

static void *kept[64];

SEEN static void by_malloc(void) {
    for (unsigned i = 0; i < 1000; i++) {
        void *block = used(malloc(i));
        note(MALLOC, i);
        if (i < 10) {
            kept[i] = block;
            continue;
        }
        free(block);
        note_gone(MALLOC, i);
    }
    errno = 77;
    free(used(malloc(10)));
    check(errno == 77, "errno was changed");
    note(MALLOC, 10);
    note_gone(MALLOC, 10);
    errno = 0;
    check(!used(malloc(too_much)) && errno == ENOMEM, "too much was allocated");
}

SEEN static void by_calloc(void) {
    char *block = (char *)calloc(30, 70);
    for (int i = 0; i < 2100; i++) check(block[i] == 0, "calloc did not clear");
    note(CALLOC, 2100);
    kept[10] = block;
    check(!used(calloc(everything, 16)), "too much was allocated");
}

SEEN static void by_realloc(void) {
    char *block = NULL;
    size_t last = 0;
    for (size_t size = 1; size < 300000; size = size * 3 + 1) {
        block = (char *)realloc(block, size);
        block[size - 1] = 1;
        if (last) note_gone(REALLOC, last);
        note(REALLOC, size);
        last = size;
    }
    check(!used(realloc(used(block), too_much)), "too much was allocated");
    block = (char *)realloc(block, 12345);
    note_gone(REALLOC, last);
    note(REALLOC, 12345);
    kept[11] = block;
    void *other = used(malloc(100));
    note(REALLOC, 100);
    check(!realloc(other, 0), "realloc to nothing gave a block");
    note_gone(REALLOC, 100);
}

SEEN static void by_reallocarray(void) {
    void *block = reallocarray(NULL, 11, 13);
    note(REALLOCARRAY, 143);
    block = reallocarray(block, 110, 13);
    note_gone(REALLOCARRAY, 143);
    note(REALLOCARRAY, 1430);
    check(!used(reallocarray(used(block), everything, 16)), "too much was allocated");
    kept[12] = block;
}

SEEN static void by_alignment(void) {
    void *block = NULL;
    check(posix_memalign(&block, 4096, 100) == 0 && (uintptr_t)block % 4096 == 0, "posix_memalign");
    note(ALIGNED, 100);
    kept[13] = block;
    check(posix_memalign(&block, 3, 100) == EINVAL, "posix_memalign took a wrong alignment");
    void *(*const functions[])(size_t, size_t) = {aligned_alloc, memalign};
    for (int i = 0; i < 2; i++) {
        block = used(functions[i](256, 512));
        check((uintptr_t)block % 256 == 0, "a block is not aligned");
        note(ALIGNED, 512);
        free(block);
        note_gone(ALIGNED, 512);
    }
    block = valloc(33);
    check((uintptr_t)block % 4096 == 0, "valloc");
    note(ALIGNED, 33);
    kept[14] = block;
    block = used(pvalloc(33));
    check((uintptr_t)block % 4096 == 0, "pvalloc");
    note(ALIGNED, 33);
    free(block);
    note_gone(ALIGNED, 33);
}

// What a library without hooks allocates belongs to its caller.
SEEN static void by_a_library(void) {
    kept[15] = strdup("twelve bytes");
    note(STRINGS, 13);
}

SEEN static void by_mmap(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = (char *)mmap(NULL, 10 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    note(MAPS, 10 * page);
    munmap(pages + 3 * page, 2 * page);
    known[MAPS].live -= 2 * page;
    char *more = (char *)mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    note(MAPS, 4 * page);
    more = (char *)mremap(more, 4 * page, 600 * page, MREMAP_MAYMOVE);
    check(more != MAP_FAILED, "mremap");
    note_gone(MAPS, 4 * page);
    note(MAPS, 600 * page);
    munmap(more, 600 * page);
    note_gone(MAPS, 600 * page);
    // Addresses alone are no memory, and neither is a file.
    mmap(NULL, 1000 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int file = open("/proc/self/exe", O_RDONLY);
    check(mmap(NULL, page, PROT_READ, MAP_PRIVATE, file, 0) != MAP_FAILED, "mmap of a file");
    close(file);
}

SEEN static void by_new(void) {
#ifdef __cplusplus
    struct alignas(128) wide {
        char bytes[256];
    };
    kept[16] = new long[50];
    note(NEWS, 400);
    kept[17] = new wide;
    check((uintptr_t)kept[17] % 128 == 0, "new");
    note(NEWS, 256);
    delete (int *)used(new int);
    note(NEWS, sizeof(int));
    note_gone(NEWS, sizeof(int));
#endif
}

// ---- threads that free what others have allocated

#define ROUNDS 20000
static void *handed[2];
static pthread_barrier_t barrier;

SEEN static void *worker(void *number) {
    size_t own = (size_t)number;
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t size = 16 + i % 100;
        handed[own] = malloc(size);
        note(WORKER, size);
        pthread_barrier_wait(&barrier);
        free(handed[1 - own]);
        note_gone(WORKER, size);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

// A thread that makes no call with a hook frees.
UNSEEN static void *freeing(void *block) {
    free(block);
    return NULL;
}

SEEN static void in_threads(void) {
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
    for (size_t i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

SEEN static void unhooked_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, freeing, kept[10]);
    pthread_join(thread, NULL);
    note_gone(CALLOC, 2100);
}

SEEN static void in_child(void) {
    free(kept[11]);  // the parent's stays
    kept[20] = malloc(4321);
    free(used(malloc(50)));
}

SEEN static void with_fork(void) {
    pid_t child = fork();
    if (child == 0) {
        in_child();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    known[CHILD].calls = 2;
    known[CHILD].bytes = 4371;
    known[CHILD].live_blocks = 1;
    known[CHILD].live = 4321;
}

UNSEEN static void print(void) {
    for (int i = 0; i < COUNT; i++)
        if (known[i].calls)
            printf("%s %lu %lu %lu %lu\n", names[i], known[i].calls, known[i].bytes, known[i].live_blocks,
                   known[i].live);
}

int main(void) {
    by_malloc();
    by_calloc();
    by_realloc();
    by_reallocarray();
    by_alignment();
    by_a_library();
    by_mmap();
    by_new();
    in_threads();
    unhooked_thread();
    with_fork();
    print();
    return errors;
}
