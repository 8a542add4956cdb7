// Libraries that are being loaded while options name functions. Nothing reports that dlopen has returned, and a
// library's functions must be known before the first of them is called. So as long as a thread may be inside dlopen,
// its hooks look whether their functions are in a module that is known.

#ifndef FATHOM_LOADING_H
#define FATHOM_LOADING_H

#include "../follow/event.h"
#include "../follow/thread.h"

extern uint32_t loading_threads __attribute__((visibility("hidden")));  // that may be inside dlopen

// The thread calls dlopen; its frame lies above `stack_pointer`.
void loading_begin(struct thread *t, uintptr_t stack_pointer);
// A slow path begins for an event, which may be NULL: finds out whether a module is new, and whether dlopen has
// returned.
void loading_look(struct thread *t, const struct event *event);

#endif
