// What the modes that write records share.

#ifndef FATHOM_TRACE_H
#define FATHOM_TRACE_H

#include "../follow/mode.h"

void trace_settle(struct thread *t, const struct event *event);
void trace_begins(struct thread *t, enum begins how);
void trace_ends(struct thread *t, enum ends how, uint64_t now);
int trace_before_enter(struct thread *t, struct frame *call, uint64_t *now);
void trace_told_enter(struct thread *t, int has_room, const struct event *event, uint64_t now);
int trace_before_exit(struct thread *t, uint64_t *now);
void trace_told_exit(struct thread *t, int has_room, uint64_t now);
int trace_before_unwind(struct thread *t, uint32_t *count, uint64_t *now);
void trace_told_unwind(struct thread *t, int has_room, uint32_t count, uint64_t now);
void trace_before_lane(struct thread *t);
void trace_lane(struct thread *t);
void trace_tell(struct thread *t, const struct told *told, uint64_t now);
void trace_lost(struct thread *t, enum hook hook);

// What is told in modes that record all calls.
#define TRACE_TABLE                                                                                                    \
    .settle = trace_settle, .begin = trace_begins, .end = trace_ends, .fork = chunk_forget,                            \
    .before_enter = trace_before_enter, .enter = trace_told_enter, .before_exit = trace_before_exit,                   \
    .exit = trace_told_exit, .before_unwind = trace_before_unwind, .unwind = trace_told_unwind,                        \
    .before_lane = trace_before_lane, .lane = trace_lane, .tell = trace_tell, .lost = trace_lost, TRACE_IS_VALID
#ifdef FATHOM_VALID
#define TRACE_IS_VALID .is_valid = chunk_is_valid
#else
#define TRACE_IS_VALID
#endif

#endif
