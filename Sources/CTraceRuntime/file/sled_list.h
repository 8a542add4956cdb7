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

#endif
