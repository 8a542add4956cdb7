// Where a thread's open calls are in the memory of its process: what chunks of kind FATHOM_CHUNK_STACK hold. The
// recorder reads that memory while the thread runs, so it may find anything there, and checks it.

#ifndef CTRACESTACK_H
#define CTRACESTACK_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceRecords.h"

// The whole payload. Addresses are those of the process.
struct fathom_stack {
    // The address of the first place (struct fathom_open_call) of the stack that the thread runs on. That place holds
    // no function; the outermost call has the next one. 0 while nothing is to be read.
    uint64_t calls;
    uint64_t limit;  // how many places there are, from that one on
    uint64_t epoch;  // another one when calls that were open have got other numbers
};

// A place for an open call. The next one is for what the call calls. The thread numbers its calls as they begin, with
// odd numbers that wrap around; the number is 0 where no call is. Whoever reads several places while the thread goes on
// may find calls that were not open at once: then some call's caller has another number than the place before it. The
// first word is cleared before the call is, and written after all else.
struct fathom_open_call {
    uint32_t number;
    uint32_t caller;  // the number that the caller has
    uint64_t function;
    uint64_t call_site;
    uint64_t stack_pointer;
};

// The first word of the call that begins `count`th, inside the one that has the first word `caller`.
FATHOM_PUBLIC_INLINE uint64_t fathom_open_word(uint64_t count, uint64_t caller) {
    return (uint32_t)(2 * count + 1) | caller << 32;
}

FATHOM_SIZE(fathom_stack, 24);
FATHOM_SIZE(fathom_open_call, 32);

#endif
