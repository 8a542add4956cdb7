// Masks of signals where first calls are recorded. SIGTRAP must never be blocked in the kernel while there are traps:
// the kernel ends a process that hits one then. So it is left out of what goes to the kernel, and what the program
// wants is kept in fathom_trap_block; see traps.c.

#ifndef FATHOM_MASKS_H
#define FATHOM_MASKS_H

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include "behind.h"

// Whether a mask that takes the place of the thread's own for a while needs the two functions below. Nobody may be able
// to read it: then the kernel says so.
static inline __attribute__((always_inline, no_instrument_function)) int fathom_masks_trap(const sigset_t *mask) {
    return __builtin_expect(fathom_traps.on == FATHOM_TRAPS_ON, 0) && mask && fathom_can_read(mask, sizeof(uint64_t));
}
// Makes in `without` the mask to pass on, and notes meanwhile what the program has blocked. Returns what to end it
// with.
HIDDEN int fathom_mask_begins(const sigset_t *mask, sigset_t *without);
HIDDEN void fathom_mask_ends(int was_blocked);

// The program asks for signals of this set, which nobody may be able to read.
HIDDEN void fathom_ask_for_blocked(const sigset_t *set);

// The thread is about to go on in `to`, whose mask then holds, and to keep its own in `from`; NULL: it keeps nothing.
HIDDEN void fathom_change_context(ucontext_t *from, const ucontext_t *to);

// pthread_create, where SIGTRAP is blocked in the new thread as the program sees it.
HIDDEN int fathom_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                                void *argument);

#endif
