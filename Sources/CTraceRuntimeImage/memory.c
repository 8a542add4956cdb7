// What stands before the functions of the C library, or of whatever else the program is linked to, that allocate memory
// and free it. Where nobody asked for memory, each of these is one test and a jump.
//
// Memory is allocated before any constructor has run, so the first call looks up what is behind. A program that has
// functions of its own by these names calls those, and never comes here.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "CTraceRecords.h"
#include "CTraceRuntime.h"

#define EXPORT __attribute__((visibility("default"), no_instrument_function))
#define JUMP __attribute__((musttail)) return
#define IS_ASKED_FOR __builtin_expect(fathom_memory_on, 0)

FATHOM_WITHOUT_HOOKS

// clang-format off
#define FUNCTIONS(DO)                                                                                                  \
    DO(void *, malloc, (size_t size), (size))                                                                          \
    DO(void *, calloc, (size_t count, size_t size), (count, size))                                                     \
    DO(void *, realloc, (void *block, size_t size), (block, size))                                                     \
    DO(void, free, (void *block), (block))                                                                             \
    DO(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size))                   \
    DO(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))                                      \
    DO(void *, memalign, (size_t alignment, size_t size), (alignment, size))                                           \
    DO(void *, valloc, (size_t size), (size))                                                                          \
    DO(void *, pvalloc, (size_t size), (size))                                                                         \
    DO(void *, mmap, (void *start, size_t size, int protection, int flags, int file, off_t offset),                    \
       (start, size, protection, flags, file, offset))                                                                 \
    DO(int, munmap, (void *start, size_t size), (start, size))
// clang-format on

// What is behind each; until that was looked up, a function that looks it up and goes on there.
#define DECLARE_FIRST(type, name, parameters, arguments) static type first_##name parameters;
FUNCTIONS(DECLARE_FIRST)
typedef void *remap_function(void *, size_t, size_t, int, void *);
static remap_function first_mremap;
static struct {
#define MEMBER(type, name, parameters, arguments) type(*name) parameters;
    FUNCTIONS(MEMBER) remap_function *mremap;
} behind = {
#define FIRST(type, name, parameters, arguments) .name = first_##name,
    FUNCTIONS(FIRST).mremap = first_mremap,
};

// What looking up allocates itself, on old systems. It is never given back.
static char early[4096] __attribute__((aligned(16)));
static size_t early_used;
static int is_looking_up;

static int is_early(const void *block) { return (uintptr_t)block - (uintptr_t)early < sizeof early; }

static void *allocate_early(size_t size) {
    size_t room = (size + 15) & ~(size_t)15;
    if (room < size || room > sizeof early - early_used) {
        errno = ENOMEM;
        return NULL;
    }
    early_used += room;
    return early + early_used - room;
}

// No other thread runs yet: the loader and the first constructors allocate.
__attribute__((constructor)) static void look_up(void) {
    static int is_done;
    if (is_done) return;
    is_done = is_looking_up = 1;
    int error = errno;
    // Each pointer is found before it is set, because what looks it up may come here.
#define LOOK_UP(type, name, parameters, arguments) void *found_##name = dlsym(RTLD_NEXT, #name);
    FUNCTIONS(LOOK_UP)
    void *found_mremap = dlsym(RTLD_NEXT, "mremap");
#define SET(type, name, parameters, arguments) behind.name = (__typeof__(behind.name))found_##name;
    FUNCTIONS(SET)
    behind.mremap = (remap_function *)found_mremap;
    errno = error;
    is_looking_up = 0;
}

// Ours, whatever stands before it.
static __typeof__(malloc) own_malloc __attribute__((alias("malloc")));
static __typeof__(free) own_free __attribute__((alias("free")));

int fathom_memory_is_seen(void) {
    void *(*allocating)(size_t) = malloc;
    void (*freeing)(void *) = free;
    __asm__("" : "+r"(allocating), "+r"(freeing));  // the compiler may think that it knows
    look_up();
    return allocating == own_malloc && freeing == own_free;
}

static void *first_malloc(size_t size) {
    if (is_looking_up) return allocate_early(size);
    look_up();
    return behind.malloc(size);
}

static void *first_calloc(size_t count, size_t size) {
    size_t whole;
    if (is_looking_up) return __builtin_mul_overflow(count, size, &whole) ? NULL : allocate_early(whole);
    look_up();
    return behind.calloc(count, size);
}

static void *first_realloc(void *block, size_t size) {
    if (is_looking_up) return block ? NULL : allocate_early(size);
    look_up();
    return behind.realloc(block, size);
}

static void first_free(void *block) {
    if (is_looking_up) return;
    look_up();
    behind.free(block);
}

#define FIRST_OTHER(type, name, parameters, arguments)                                                                 \
    static type first_##name parameters {                                                                              \
        look_up();                                                                                                     \
        return behind.name arguments;                                                                                  \
    }
FIRST_OTHER(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size))
FIRST_OTHER(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FIRST_OTHER(void *, memalign, (size_t alignment, size_t size), (alignment, size))
FIRST_OTHER(void *, valloc, (size_t size), (size))
FIRST_OTHER(void *, pvalloc, (size_t size), (size))
FIRST_OTHER(void *, mmap, (void *start, size_t size, int protection, int flags, int file, off_t offset),
            (start, size, protection, flags, file, offset))
FIRST_OTHER(int, munmap, (void *start, size_t size), (start, size))
FIRST_OTHER(void *, mremap, (void *start, size_t old, size_t size, int flags, void *other),
            (start, old, size, flags, other))

// ---- blocks

static void tell_allocated(const void *block, size_t size) {
    if (block) fathom_note_block(FATHOM_ALLOCATED, block, size, 0);
}

#define ALLOCATING(name, parameters, arguments)                                                                        \
    EXPORT void *name parameters {                                                                                     \
        if (!IS_ASKED_FOR) JUMP behind.name arguments;                                                                 \
        void *block = behind.name arguments;                                                                           \
        tell_allocated(block, size);                                                                                   \
        return block;                                                                                                  \
    }
ALLOCATING(malloc, (size_t size), (size))
ALLOCATING(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALLOCATING(memalign, (size_t alignment, size_t size), (alignment, size))
ALLOCATING(valloc, (size_t size), (size))
ALLOCATING(pvalloc, (size_t size), (size))

EXPORT void *calloc(size_t count, size_t size) {
    if (!IS_ASKED_FOR) JUMP behind.calloc(count, size);
    void *block = behind.calloc(count, size);
    tell_allocated(block, count * size);
    return block;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!IS_ASKED_FOR) JUMP behind.posix_memalign(block, alignment, size);
    int result = behind.posix_memalign(block, alignment, size);
    if (result == 0) tell_allocated(*block, size);
    return result;
}

EXPORT void free(void *block) {
    if (__builtin_expect(is_early(block), 0)) return;
    if (IS_ASKED_FOR && block) fathom_note_block(FATHOM_FREED, block, 0, 0);
    JUMP behind.free(block);
}

EXPORT void *realloc(void *block, size_t size) {
    if (__builtin_expect(is_early(block), 0)) {
        void *copy = behind.malloc(size);
        size_t most = sizeof early - (size_t)((char *)block - early);
        return copy ? memcpy(copy, block, size < most ? size : most) : NULL;
    }
    if (!IS_ASKED_FOR) JUMP behind.realloc(block, size);
    // Another thread may be given the old block before the function has returned. Where it fails, the block stays.
    uint64_t before = fathom_moment();
    uintptr_t old = (uintptr_t)block;
    void *result = behind.realloc(block, size);
    if (old && (result || !size)) fathom_note_block(FATHOM_FREED, (void *)old, 0, before);
    tell_allocated(result, size);
    return result;
}

// The C library's calls realloc, which would tell of the block twice.
EXPORT void *reallocarray(void *block, size_t count, size_t size) {
    size_t whole;
    if (__builtin_mul_overflow(count, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, whole);
}

// ---- pages

// Memory is what the program can write to or read and that is no file's.
static int is_memory(int protection, int flags) { return flags & MAP_ANONYMOUS && protection != PROT_NONE; }

EXPORT void *mmap(void *start, size_t size, int protection, int flags, int file, off_t offset) {
    if (!IS_ASKED_FOR) JUMP behind.mmap(start, size, protection, flags, file, offset);
    uint64_t before = fathom_moment();
    void *result = behind.mmap(start, size, protection, flags, file, offset);
    if (result == MAP_FAILED) return result;
    if (flags & MAP_FIXED) fathom_note_block(FATHOM_UNMAPPED, result, size, before);
    if (is_memory(protection, flags)) fathom_note_block(FATHOM_MAPPED, result, size, 0);
    return result;
}

EXPORT void *mmap64(void *start, size_t size, int protection, int flags, int file, off64_t offset)
    __attribute__((alias("mmap")));

EXPORT int munmap(void *start, size_t size) {
    if (!IS_ASKED_FOR) JUMP behind.munmap(start, size);
    uint64_t before = fathom_moment();
    int result = behind.munmap(start, size);
    if (result == 0) fathom_note_block(FATHOM_UNMAPPED, start, size, before);
    return result;
}

EXPORT void *mremap(void *start, size_t old, size_t size, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    void *other = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    if (!IS_ASKED_FOR) return behind.mremap(start, old, size, flags, other);
    uint64_t before = fathom_moment();
    void *result = behind.mremap(start, old, size, flags, other);
    if (result != MAP_FAILED) {
        fathom_note_block(FATHOM_UNMAPPED, start, old, before);
        if (flags & MREMAP_FIXED) fathom_note_block(FATHOM_UNMAPPED, result, size, before);
        fathom_note_block(FATHOM_MAPPED, result, size, 0);
    }
    return result;
}

FATHOM_WITHOUT_HOOKS_END
