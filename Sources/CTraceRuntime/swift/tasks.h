// Swift's tasks.

#ifndef FATHOM_TASKS_H
#define FATHOM_TASKS_H

#include "../follow/thread.h"

// Where the library is that runs tasks, or the function in the product that runs them.
struct task_code {
    uintptr_t low, size;
    intptr_t guard;  // negative when there is such code
};
extern struct task_code task_code __attribute__((visibility("hidden")));
// Whether that code calls from there.
INTERNAL int task_runs_from(uintptr_t call_site) { return call_site - task_code.low < task_code.size; }
// Whether the call that begins is a piece of a task, which is so when the library that runs tasks called it.
int task_piece_begins(const struct frame *caller, const struct frame *call);
// Swift's concurrency library is there. `current` is its swift_task_getCurrent. `run` is the function that runs jobs,
// or NULL when the product does not contain the library. This is called from the product that uses it.
void fathom_swift_tasks(void *(*current)(void), void *run);
// Says whose piece the innermost call is, if a task is running. There must be room.
void task_put(struct thread *t, uintptr_t context);

#endif
