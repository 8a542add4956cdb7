// What stands before the functions that pthread_cleanup_push and pthread_cleanup_pop call in C. Each of these has left
// the stack before the C library's own function runs, because that unwinds the stack.

#ifndef CTRACERUNTIMECLEANUP_H
#define CTRACERUNTIMECLEANUP_H

#include "CTraceRuntime.h"

typedef void fathom_cleanup_function(void *);

// `symbol` is what to define, `real` an expression for the function behind it, and `note` what is called with `buffer`.
#define FATHOM_CLEANUP(name, symbol, real, note)                                                                       \
    __attribute__((visibility("default"))) fathom_cleanup_function fathom_##name __asm__(symbol);                      \
    void fathom_##name(void *buffer) {                                                                                 \
        note;                                                                                                          \
        __attribute__((musttail)) return ((fathom_cleanup_function *)(real))(buffer);                                  \
    }
#define FATHOM_CLEANUP_BEGINS fathom_note_cleanup(buffer, (uintptr_t)__builtin_return_address(0))
#define FATHOM_CLEANUP_ENDS fathom_note_cleanup_end(buffer)
#define FATHOM_CLEANUP_DONE fathom_note_cleanup_done(buffer)

#endif
