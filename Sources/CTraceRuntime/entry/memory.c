// Memory that is allocated and freed, as the functions that stand before those of the C library report it.
//
// What frees a block is told before it is freed, and what allocates one after it was allocated. So of all threads'
// moments at which something happened to an address, the last one tells whose it is.

#include "../follow/aside.h"
#include "../host/runtime.h"
#include "busy.h"

FATHOM_WITHOUT_HOOKS

uint64_t fathom_moment(void) { return now_ticks(); }

void fathom_note_block(uint32_t record, const void *address, size_t size, uint64_t ticks) {
    struct fathom_block block = {(uint64_t)(uintptr_t)address, size};
    struct event event = {.stack_pointer = (uintptr_t)__builtin_frame_address(0),
                          .told = told_of(record, &block, sizeof block, TOLD_OF_MEMORY),
                          .hook = HOOK_TOLD};
    struct thread *t = begin_note();
    if (!t) {
        // The thread has made no call yet, ends, or is busy and was interrupted by a handler.
        if (control_mode() != MODE_PAUSED) event_aside(&event);
        return;
    }
    side_follow(t, &event, ticks ? ticks : now_ticks());
    end_note(t);
}

FATHOM_WITHOUT_HOOKS_END
