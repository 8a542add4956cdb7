// A program's own call stack, kept by hand: who called whom, at what depth, in the order of the calls.
//
// A traced function begins with CALL(function) and ends with RETURN. Where control leaves frames without their
// RETURN, the code that control reaches puts the depth back: truth_depth = what it was in that frame.
// truth_write() writes one line a call: function's address, caller's address (0 at the root), depth.

#ifndef TRUTH_H
#define TRUTH_H

#include "program.h"

#define TRUTH_CALLS 2000000
#define TRUTH_DEPTH 4096

static struct truth_call {
    uintptr_t function, caller;
    int depth;
} truth_calls[TRUTH_CALLS];
static long truth_count;

// The stack in use; programs with several stacks point this at another one.
static uintptr_t truth_main_stack[TRUTH_DEPTH];
static uintptr_t *truth_stack = truth_main_stack;
static int truth_depth;

QUIET static inline void truth_enter(uintptr_t function) {
    if (truth_count == TRUTH_CALLS || truth_depth == TRUTH_DEPTH) abort();
    struct truth_call *call = &truth_calls[truth_count++];
    call->function = function;
    call->caller = truth_depth ? truth_stack[truth_depth - 1] : 0;
    call->depth = truth_depth;
    truth_stack[truth_depth++] = function;
}

#define CALL(function) truth_enter((uintptr_t)(function))
#define RETURN truth_depth--

QUIET static inline void truth_write(void) {
    FILE *file = truth_open();
    if (!file) return;
    for (long i = 0; i < truth_count; i++)
        fprintf(file, "%lx %lx %d\n", (unsigned long)truth_calls[i].function, (unsigned long)truth_calls[i].caller,
                truth_calls[i].depth);
    fclose(file);
}

#endif
