// Libraries that are being loaded, where functions have a say. Nothing reports that dlopen is through, and a library's
// functions are to be known before the first of them is called. So until then, hooks look whether theirs are in a
// module that is known.

#ifndef FATHOM_LOADING_H
#define FATHOM_LOADING_H

#include "../follow/event.h"
#include "../follow/thread.h"

extern uint32_t loading_threads __attribute__((visibility("hidden")));  // that may be inside dlopen

// The thread calls dlopen; its frame lies above `stack_pointer`.
void loading_begin(struct thread *t, uintptr_t stack_pointer);
// A slow path begins for an event, which may be NULL: finds out whether a module is new, and whether dlopen is through.
void loading_look(struct thread *t, const struct event *event);

#endif
