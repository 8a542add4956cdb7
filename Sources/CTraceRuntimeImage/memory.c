// What stands before the functions of the C library, or of whatever else the program is linked to, that allocate memory
// and free it. Where nobody asked for memory, each of these is one test and a jump.
// A program that has functions of its own by these names calls those, and never comes here.

#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

FATHOM_WITHOUT_HOOKS

// Ours, whatever stands before it.
static __typeof__(malloc) own_malloc __attribute__((alias("malloc")));
static __typeof__(free) own_free __attribute__((alias("free")));

int fathom_memory_is_seen(void) {
    void *(*allocating)(size_t) = malloc;
    void (*freeing)(void *) = free;
    __asm__("" : "+r"(allocating), "+r"(freeing));  // the compiler may think that it knows
    return allocating == own_malloc && freeing == own_free;
}

// ---- blocks

#define ALLOCATING(name, parameters, arguments)                                                                        \
    EXPORT void *name parameters {                                                                                     \
        if (!IS_ASKED_FOR) JUMP REAL(name) arguments;                                                                  \
        void *block = REAL(name) arguments;                                                                            \
        tell_allocated(block, size);                                                                                   \
        return block;                                                                                                  \
    }
ALLOCATING(malloc, (size_t size), (size))
ALLOCATING(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALLOCATING(memalign, (size_t alignment, size_t size), (alignment, size))
ALLOCATING(valloc, (size_t size), (size))
ALLOCATING(pvalloc, (size_t size), (size))

EXPORT void *calloc(size_t count, size_t size) {
    if (!IS_ASKED_FOR) JUMP REAL(calloc)(count, size);
    void *block = REAL(calloc)(count, size);
    tell_allocated(block, count * size);
    return block;
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
    if (!IS_ASKED_FOR) JUMP REAL(posix_memalign)(block, alignment, size);
    int result = REAL(posix_memalign)(block, alignment, size);
    if (result == 0) tell_allocated(*block, size);
    return result;
}

EXPORT void free(void *block) {
    if (IS_ASKED_FOR && block) fathom_note_block(FATHOM_FREED, block, 0, 0);
    JUMP REAL(free)(block);
}

EXPORT void *realloc(void *block, size_t size) {
    if (!IS_ASKED_FOR) JUMP REAL(realloc)(block, size);
    // Another thread may be given the old block before the function has returned. Where it fails, the block stays.
    uint64_t before = fathom_moment();
    uintptr_t old = (uintptr_t)block;
    void *result = REAL(realloc)(block, size);
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

#define IS_SEEN (IS_ASKED_FOR && !fathom_is_allocator(__builtin_return_address(0)))

// Memory is what the program can write to or read and that is no file's.
static int is_memory(int protection, int flags) { return flags & MAP_ANONYMOUS && protection != PROT_NONE; }

EXPORT void *mmap(void *start, size_t size, int protection, int flags, int file, off_t offset) {
    if (!IS_SEEN) JUMP REAL(mmap)(start, size, protection, flags, file, offset);
    uint64_t before = fathom_moment();
    void *result = REAL(mmap)(start, size, protection, flags, file, offset);
    if (result == MAP_FAILED) return result;
    if (flags & MAP_FIXED) fathom_note_block(FATHOM_UNMAPPED, result, size, before);
    if (is_memory(protection, flags)) fathom_note_block(FATHOM_MAPPED, result, size, 0);
    return result;
}

EXPORT void *mmap64(void *start, size_t size, int protection, int flags, int file, off64_t offset)
    __attribute__((alias("mmap")));

EXPORT int munmap(void *start, size_t size) {
    if (!IS_SEEN) JUMP REAL(munmap)(start, size);
    uint64_t before = fathom_moment();
    int result = REAL(munmap)(start, size);
    if (result == 0) fathom_note_block(FATHOM_UNMAPPED, start, size, before);
    return result;
}

EXPORT void *mremap(void *start, size_t old, size_t size, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    void *other = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    if (!IS_SEEN) return REAL(mremap)(start, old, size, flags, other);
    uint64_t before = fathom_moment();
    void *result = REAL(mremap)(start, old, size, flags, other);
    if (result != MAP_FAILED) {
        fathom_note_block(FATHOM_UNMAPPED, start, old, before);
        if (flags & MREMAP_FIXED) fathom_note_block(FATHOM_UNMAPPED, result, size, before);
        fathom_note_block(FATHOM_MAPPED, result, size, 0);
    }
    return result;
}

FATHOM_WITHOUT_HOOKS_END
