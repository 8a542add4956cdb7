// What the modes that write records share.

#ifndef FATHOM_TRACE_H
#define FATHOM_TRACE_H

#include "../follow/mode.h"

void trace_begins(struct thread *t, enum begins how);
void trace_ends(struct thread *t, enum ends how, uint64_t now);
int trace_before_enter(struct thread *t, struct frame *call, uint64_t *now);
void trace_before_lane(struct thread *t);
void trace_lane(struct thread *t);
void trace_moment(struct thread *t, enum hook hook, uint32_t name, uint64_t value, uint64_t now);
void trace_lost(struct thread *t, enum hook hook);

#endif
