// The dynamic linker tells debuggers of libraries before their constructors run, by calling a function that does
// nothing (r_brk in link.h).

#ifndef FATHOM_LOADING_H
#define FATHOM_LOADING_H

#include "../host/base.h"

struct r_debug;

extern struct loading {
    uintptr_t address;  // of the function; 0: it is not known
    const struct r_debug *debug;
} loading __attribute__((visibility("hidden")));

void loading_find(void);
// Where functions get detours, the function becomes a jump, because no thread runs a new library's code then. No other
// thread runs.
void loading_watch(void);

#endif
