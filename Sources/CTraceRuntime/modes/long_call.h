// Telling the recorder of calls that took long, where it wants to hear of them.

#ifndef FATHOM_LONG_CALL_H
#define FATHOM_LONG_CALL_H

#include "../file/requests.h"
#include "../follow/thread.h"

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
