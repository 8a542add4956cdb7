// What the functions share that stand before those that allocate memory.

#ifndef FATHOM_MEMORY_H
#define FATHOM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceRecords.h"
#include "CTraceRuntime.h"
#include "behind.h"

#define IS_ASKED_FOR __builtin_expect(fathom_memory_on, 0)

// How many blocks the thread has told of as allocated, so that an allocating function that calls another one tells of
// nothing.
extern __thread uint32_t fathom_blocks_told HIDDEN __attribute__((tls_model("initial-exec")));

static inline __attribute__((always_inline, no_instrument_function)) void tell_allocated(const void *block,
                                                                                         size_t size) {
    if (!block) return;
    fathom_blocks_told++;
    fathom_note_block(FATHOM_ALLOCATED, block, size, 0);
}

// Whether the code at this address is that of the library which defines the program's malloc, and which is not the C
// library: what it maps becomes blocks that are told of one by one.
HIDDEN int fathom_is_allocator(const void *address);

// Whether the functions of memory.c are what the program calls (struct fathom_image).
HIDDEN int fathom_memory_is_seen(void);

#endif
