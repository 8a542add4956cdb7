// The list of a product's sleds, as compilers write it (CTraceSleds/sleds.c).

#ifndef FATHOM_SLED_LIST_H
#define FATHOM_SLED_LIST_H

#include "../host/base.h"

// LLVM's XRaySledEntry of version 2: addresses are relative to where they stand.
struct sled {
    int64_t address;
    int64_t function;
    uint8_t kind;
    uint8_t always;
    uint8_t version;
    uint8_t is_first;  // ours: nothing of the function stands before it, and nothing leads back to it
    uint8_t reserved[12];
};
_Static_assert(sizeof(struct sled) == 32, "as LLVM writes it");
enum { KIND_ENTER, KIND_EXIT, KIND_TAIL, KIND_ENTER_ARGUMENTS };
#define SLED_VERSION 2
#define SLED_SIZE 11u

INTERNAL uintptr_t address_of(const struct sled *sled) { return (uintptr_t)&sled->address + (uintptr_t)sled->address; }
INTERNAL uintptr_t function_of(const struct sled *sled) {
    return (uintptr_t)&sled->function + (uintptr_t)sled->function;
}
INTERNAL int is_enter(const struct sled *sled) { return sled->kind != KIND_EXIT && sled->kind != KIND_TAIL; }

// Whether a function comes by the sled at its beginning more than once in a call. clang lays that sled into the first
// block that is not empty, which may be the head of a loop.

enum sled_place {
    SLED_ONCE,
    SLED_AGAIN,     // it does, or may
    SLED_UNUSABLE,  // it does, or may, and keeps values below its stack pointer, where an open sled writes
};
// `first` to `last`, the latter one behind, are the function's sleds, and all are in its code. That ends at `limit` at
// the latest. O(bytes of the function).
enum sled_place sled_place(const struct sled *first, const struct sled *last, uintptr_t limit);

#endif
