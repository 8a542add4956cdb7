// Pointer authentication on aarch64.

#ifndef FATHOM_SIGNING_H
#define FATHOM_SIGNING_H

#include "system.h"

// Whether functions that sign their return address change bits of it that the FDE of return places takes for the
// address (entry/place_calls.h). That is so where the kernel gives programs less than 48 bits. Then no call goes by a
// place.
#if defined(__aarch64__)
INTERNAL int signing_changes_addresses(void) {
    uint64_t changed = 0, own = (uintptr_t)system_process_id;
    // A single bit stays as it is half of the time.
    for (uint64_t i = 0; i < 64; i++) {
        register uint64_t address __asm__("x17") = own;
        register uint64_t modifier __asm__("x16") = i << 4;
        __asm__("hint #8" : "+r"(address) : "r"(modifier));  // pacia1716
        changed |= address ^ own;
    }
    return (changed << 16) != 0;
}
#else
INTERNAL int signing_changes_addresses(void) { return 0; }
#endif

#endif
