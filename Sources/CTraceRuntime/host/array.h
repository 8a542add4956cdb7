// An array that grows by doubling, in a mapping of its own.

#ifndef FATHOM_ARRAY_H
#define FATHOM_ARRAY_H

#include "system.h"

// Sizes are in bytes. All 0: it is empty.
struct array {
    char *bytes;
    size_t used, room;
};

// Makes room for `size` more bytes, and returns where they are. NULL when there is no memory. Makes system calls.
void *array_extend(struct array *array, size_t size);
void array_release(const struct array *array);

#endif
