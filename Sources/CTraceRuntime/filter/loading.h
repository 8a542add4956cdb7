// Finds libraries that are being loaded while options name functions. The functions of a library must be known before
// the first of them is called, but nothing reports that dlopen has returned. So as long as a thread may be inside
// dlopen, all hooks check whether the function that they report is in a known module.

#ifndef FATHOM_LOADING_H
#define FATHOM_LOADING_H

#include "../follow/event.h"
#include "../follow/thread.h"

// The number of threads that may be inside dlopen.
extern uint32_t loading_threads __attribute__((visibility("hidden")));

// Notes that the thread calls dlopen, whose caller's frame lies above `stack_pointer`.
void loading_begin(struct thread *t, uintptr_t stack_pointer);
// Finds out whether a module is new, and whether dlopen has returned. A slow path calls this as it begins, with its
// event, which may be NULL.
void loading_look(struct thread *t, const struct event *event);

#endif
