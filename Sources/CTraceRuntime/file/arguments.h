// What is recorded of the arguments of functions, by where their enter hooks return to.

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

// Keeps a copy of what a module's table says of arguments, and tells the layouts in the process's metadata. `size`
// bytes at `bytes`, which is aligned to 8, are what the recorder wrote. The caller holds runtime.modules_lock.
void arguments_keep(uintptr_t bias, const char *bytes, size_t size);
// Whether anything is known of the arguments where the hook returns to; what that is. Any thread may call it, at any
// time. O(log sites).
int arguments_find(uintptr_t return_address, uintptr_t function, struct argument_steps *found);

// Bytes of a text that are recorded at most.
uint32_t arguments_text_limit(void);
// The memory of the calling thread. In [low, high), it is sure to be there, so that reading it takes no system call.
struct argument_memory {
    uintptr_t low, high;
    uint32_t thread;  // its id; not the process's, because the first thread may have ended
};
// Reads as much of [from, from + size) as can be read, up to the first page that cannot be. Returns how many bytes that
// is. No address does any harm.
size_t arguments_read(void *to, uintptr_t from, size_t size, const struct argument_memory *memory);
// `text_limit` is as the recorder says.
void arguments_open(uint32_t text_limit);

#endif
