// Where the arguments of functions are found, by the addresses that their enter hooks return to, and of functions with
// sleds their results.

#ifndef FATHOM_ARGUMENTS_TABLE_H
#define FATHOM_ARGUMENTS_TABLE_H

#include "../host/base.h"
#include "CTraceFunctions.h"

// How to find the arguments of a call.
struct argument_steps {
    const uint8_t *next, *end;
    uint32_t layout;
    uintptr_t bias;  // of the module
};

// Keeps a copy of a module's table of arguments, and writes its layouts into the process's metadata. The recorder wrote
// the table: `size` bytes at `bytes`, which is aligned to 8. The caller holds LOCK_MODULES.
void arguments_keep(uintptr_t bias, const char *bytes, size_t size);
// Finds how to read the arguments of a call whose hook returns to `return_address`; that is `function` for a sled, and
// RESULT_SITE for what the function returns. Returns 0 when that is not known.
#define RESULT_SITE 0ul
// Any thread may call it, at any time. O(log sites).
int arguments_find(uintptr_t return_address, uintptr_t function, struct argument_steps *found);

// Returns how many bytes of a text are recorded at most.
uint32_t arguments_text_limit(void);
// What is known of the calling thread's memory: [low, high) is mapped, so reading it takes no system call.
struct argument_memory {
    uintptr_t low, high;
    uint32_t thread;  // its id; not the process's, because the first thread may have ended
};
// Reads [from, from + size) up to the first page that cannot be read. Returns the number of bytes that it read. No
// address does any harm.
size_t arguments_read(void *to, uintptr_t from, size_t size, const struct argument_memory *memory);
// Sets the limit of texts, which the recorder chose.
void arguments_open(uint32_t text_limit);
void arguments_close(void);  // no other thread runs

#endif
