// The slow paths, which write records. The thread is attached and busy.

#ifndef FATHOM_TRACE_H
#define FATHOM_TRACE_H

#include "../follow/stack.h"

void record_enter(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now);
void record_exit(struct thread *t, uintptr_t function, uintptr_t call_site, uintptr_t stack_pointer, uint64_t now,
                 uint64_t hook);
void record_exit_top(struct thread *t, uint64_t now);  // of the innermost call
// Ends the innermost `count` calls without their exit hook.
void record_unwind(struct thread *t, uint32_t count, uint64_t now);
// Ends the calls in frames below `stack_pointer`, and those of signal handlers that interrupted what is above it. Returns
// the calls on that stack as they were.
struct stretch record_landing(struct thread *t, uintptr_t stack_pointer, uint64_t now);
void record_lane(struct thread *t);
void record_scope_end(struct thread *t, uintptr_t stack_pointer, uint64_t now);
void record_mark(struct thread *t, uint32_t name, uintptr_t stack_pointer, uint64_t now);
void record_counter(struct thread *t, uint32_t name, uint64_t bits, uintptr_t stack_pointer, uint64_t now);
int record_make_room(struct thread *t, uint64_t *now);  // 0 when no record can be written

// Appends to the chunk; room is there. Readers see it when it is published.
void put_special(struct thread *t, uint16_t special, const void *payload, size_t size);
// Publishes all that is in the chunk: none of it is taken back from here on.
void record_publish(struct thread *t);

#endif
