// What begins and ends calls whose return address tells where they are: functions with sleds, and library calls.

#ifndef FATHOM_SLED_HOOKS_H
#define FATHOM_SLED_HOOKS_H

#include "../follow/registers.h"

#if defined(__x86_64__)

// What the fast paths of MODE_TRACE answer.
enum {
    SLED_DONE,
    SLED_SLOW,         // the thread was made busy, and the call has to be followed
    SLED_INTERRUPTED,  // the call is followed, and a signal handler has left events
    SLED_OTHER,        // nothing was done yet
};

// A call begins whose return address lies at `sp`, and ends. Of the pairs, the first is for MODE_TRACE alone; the
// second one goes on where the first has given another answer than SLED_DONE, and stands alone in other modes, with
// SLED_OTHER.
uint32_t place_trace_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp);
void place_enter(uintptr_t function, uintptr_t call_site, uintptr_t sp, uintptr_t context, uint32_t answer,
                 const struct sled_registers *registers);
uint32_t sled_trace_leave(uintptr_t sp);
// `registers` is NULL at a tail call, where the registers hold the arguments of the function that is called.
void sled_leave(uintptr_t sp, uint32_t answer, const struct sled_registers *registers);

#endif

#endif
