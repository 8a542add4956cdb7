// Which stack an address is on.

#ifndef FATHOM_STACK_H
#define FATHOM_STACK_H

#include "../host/base.h"
#include "thread.h"

#include <ucontext.h>

// Calls of the running lane that run on one stack. There are none if `last` is before `first`.
struct stretch {
    struct frame *first, *last;
    int is_signals;
};

int stack_mapping(uintptr_t address, uintptr_t *low, uintptr_t *high);  // the mapping that holds it; 0: unknown
// Whether the address is on the signal stack that the kernel would use now.
int stack_of_signals(uintptr_t stack_pointer, uintptr_t *low, uintptr_t *high);
// A lane other than the running one that has calls on that signal stack, and the outermost of these calls. 0 if there
// is none.
int stack_find_signals(struct thread *t, uintptr_t low, uintptr_t high, struct lane **lane, struct frame **first);
void stack_begin_signals(struct thread *t, uintptr_t low, uintptr_t high);  // the next call will be the first on it
// The lane whose calls run on the stack that holds an address; NULL if no lane is known to. *is_signals says whether
// that is a signal stack. O(lanes).
struct lane *stack_find(struct thread *t, uintptr_t stack_pointer, int *is_signals);
// Whether a coroutine's stack, which lay inside a function's frame, is gone with that frame.
int stack_is_gone(struct thread *t, const struct lane *inner);
void stack_begin_coroutine(struct thread *t, struct lane *lane);  // notes whose frame its stack is inside, if any
// The running lane's calls on the stack that holds an address. If that is no known signal stack, they are the calls on
// the lane's own stack.
struct stretch stack_stretch(struct thread *t, uintptr_t stack_pointer);

// A coroutine's saved registers.

#if defined(__x86_64__)
#define CONTEXT_SP(context) (&(context)->uc_mcontext.gregs[REG_RSP])
#else
#define CONTEXT_SP(context) (&(context)->uc_mcontext.sp)
#endif

#endif
