// Whether a function comes by the sled at its beginning more than once in a call. clang lays that sled into the first
// block that is not empty, which may be the head of a loop.

#ifndef FATHOM_SLED_LOOPS_H
#define FATHOM_SLED_LOOPS_H

#include "sled_list.h"

enum sled_place {
    SLED_ONCE,
    SLED_AGAIN,     // it does, or may
    SLED_UNUSABLE,  // it does, or may, and keeps values below its stack pointer, where an open sled writes
};
// `first` to `last`, the latter one behind, are the function's sleds, and all are in its code. That ends at `limit` at
// the latest. O(bytes of the function).
enum sled_place sled_place(const struct sled *first, const struct sled *last, uintptr_t limit);

#endif
