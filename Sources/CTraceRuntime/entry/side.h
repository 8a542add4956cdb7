// Hooks of a signal handler that interrupted a hook, kept until that one is through.

#ifndef FATHOM_SIDE_H
#define FATHOM_SIDE_H

#include "../follow/thread.h"

void side_append(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t hook);
// Makes the thread idle again and records what handlers left until nothing is left.
void side_drain(struct thread *t);
// Records one event; the thread is attached and busy.
void record_event(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t sp, uint64_t now, uint64_t hook);
// The handler that interrupted a hook never returns to it (siglongjmp): make the thread usable again.
void side_abandon(struct thread *t);

#endif
