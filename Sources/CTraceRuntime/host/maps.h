// The process's mappings, as /proc/self/maps says.

#ifndef FATHOM_MAPS_H
#define FATHOM_MAPS_H

#include "system.h"

struct mapping {
    uintptr_t low, high;
    int rights;  // PROT_*
};

// The mapping that holds `address`, or the first one above it. 0 when there is none, or when it cannot be told.
// Takes LOCK_MAPS.
int maps_find(uintptr_t address, struct mapping *found);

#endif
