// What the modes that write records share.

#ifndef FATHOM_TRACE_H
#define FATHOM_TRACE_H

#include "../follow/mode.h"
#include "../follow/thread.h"
#include "../session/await.h"

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

// Telling the recorder of calls that took long, where it wants to hear of them.

// A call has ended `now`, and its record is written. Nobody knows when an inherited call began.
INTERNAL void long_call_note(const struct thread *t, const struct frame *call, uint64_t now) {
    struct fathom_long_call ended = {call->function, now, now - call->enter};
    if (!(call->stack_pointer & FRAME_INHERITED)) requests_tell(t->serial, &ended, 0);
}

// Does so if it took as long as the recorder says.
INTERNAL void long_call_look(const struct thread *t, const struct frame *call, uint64_t now) {
    if (UNLIKELY(requests_wants(now - call->enter))) long_call_note(t, call, now);
}

// Does so for `count` calls from `outermost` on, which have ended without their exit hooks, the innermost first. None
// takes longer than the outermost.
INTERNAL void long_calls_look(const struct thread *t, const struct frame *outermost, uint32_t count, uint64_t now) {
    if (!requests_wants(now - outermost->enter)) return;
    for (const struct frame *call = outermost + count - 1; call >= outermost; call--) long_call_look(t, call, now);
}

#endif
