// Shared by the modes that add calls up by path and keep no record of a call.

#ifndef FATHOM_PROFILE_H
#define FATHOM_PROFILE_H

#include "../follow/mode.h"

void profile_settle(struct thread *t, const struct event *event);
int profile_before_enter(struct thread *t, struct frame *call, uint64_t *now);
void profile_told_enter(struct thread *t, int answer, const struct event *event, uint64_t now);
int profile_before_exit(struct thread *t, uint64_t *now);
void profile_told_exit(struct thread *t, int answer, uint64_t now);
int profile_before_unwind(struct thread *t, uint32_t *count, uint64_t *now);
void profile_told_unwind(struct thread *t, int answer, uint32_t count, uint64_t now);
void profile_before_lane(struct thread *t);
void profile_lost(struct thread *t, enum hook hook);

// The functions of these modes for their tables (follow/mode.h).
#define PROFILE_TABLE                                                                                                  \
    .settle = profile_settle, .begin = paths_begin, .end = paths_end, .fork = paths_fork,                              \
    .before_enter = profile_before_enter, .enter = profile_told_enter, .before_exit = profile_before_exit,             \
    .exit = profile_told_exit, .before_unwind = profile_before_unwind, .unwind = profile_told_unwind,                  \
    .before_lane = profile_before_lane, .lane = paths_lane, .lost = profile_lost, PROFILE_IS_VALID
#ifdef FATHOM_VALID
#define PROFILE_IS_VALID .is_valid = paths_are_valid
#else
#define PROFILE_IS_VALID
#endif

#endif
