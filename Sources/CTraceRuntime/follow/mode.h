// What is told about the calls that are followed. The code in this folder knows which calls are open, and knows nothing
// of records. A mode is a table of what to do when the open calls change; a new mode needs one such table, in a file of
// its own in modes/.
//
// Most changes are told twice. Before a change, the mode hears what is about to change, makes room for a record, may
// set the time of the change later, and answers. Then the change is made, by one store as a rule. Then the mode hears
// of it again, together with its own answer. So a chunk that begins with the open calls begins with those before the
// change. And a signal handler that jumps away in between leaves calls and records that fit together, because the next
// chunk starts from the calls.
//
// The thread is busy in all of these but `fork` and `lost`. Times that are passed are in ticks.

#ifndef FATHOM_MODE_H
#define FATHOM_MODE_H

#include "../host/modes.h"
#include "event.h"
#include "thread.h"

enum begins {
    BEGINS_THREAD,    // the thread was attached for the first time
    BEGINS_AGAIN,     // it was attached again, after its last TLS destructor
    BEGINS_IN_CHILD,  // it was attached in a fork's child; the open calls are inherited
    BEGINS_RUNNING,   // recording was started; what is open is marked as inherited
};

enum ends {
    ENDS_FOR_NOW,    // it goes on at once, but what was told so far is to be complete
    ENDS_ABANDONED,  // a handler jumped out of a slow path: the mode may have heard only half of the last change
    ENDS_STOPPED,    // recording was stopped
    ENDS_THREAD,     // the thread ends; all its calls have ended
    ENDS_PROCESS,    // the process is about to end, and calls are open
    ENDS_DETACHED,   // the process leaves the session, and the thread goes on; its recording was stopped before
};

struct mode {
    // A slow path begins, for an event or, when that is NULL, for something else. This is the place to deal with what
    // the hooks have only counted since the last one, and to stop or start recording because of the event.
    void (*settle)(struct thread *t, const struct event *event);
    // The open calls are known from here on.
    void (*begin)(struct thread *t, enum begins how);
    // Nothing more comes for now. `now` is the time of the end.
    void (*end)(struct thread *t, enum ends how, uint64_t now);
    // This is a fork's child, and the thread is the one that forked. t->state tells whether it forked in the middle of
    // a hook.
    void (*fork)(struct thread *t);

    // A call begins and becomes the innermost one. It may be made FRAME_HIDDEN here.
    int (*before_enter)(struct thread *t, struct frame *call, uint64_t *now);
    void (*enter)(struct thread *t, int answer, const struct event *event, uint64_t now);
    // The innermost call ends by its exit hook. It is t->top before that, and t->top + 1 after it.
    int (*before_exit)(struct thread *t, uint64_t *now);
    // The same, by a sled that tells the function's registers; NULL where no mode looks at them.
    int (*before_result)(struct thread *t, const struct event *event, uint64_t *now);
    void (*exit)(struct thread *t, int answer, uint64_t now);
    // The innermost *count calls end without their exit hooks. The mode may lower *count; its answer then holds for
    // that many of the innermost calls, and it is asked again for the others.
    int (*before_unwind)(struct thread *t, uint32_t *count, uint64_t *now);
    void (*unwind)(struct thread *t, int answer, uint32_t count, uint64_t now);
    // The thread goes on on another stack, whose calls belong to another lane.
    void (*before_lane)(struct thread *t);
    void (*lane)(struct thread *t);
    // Something is told of a moment; NULL where no mode keeps moments.
    void (*tell)(struct thread *t, const struct told *told, uint64_t now);
    // An enter that becomes no call, or an exit that no call was found for. The thread may be in any state.
    void (*lost)(struct thread *t, enum hook hook);
#ifdef FATHOM_VALID
    int (*is_valid)(const struct thread *t);  // whether what the mode itself keeps of the thread can be
#endif
};

// From the table in modes/modes.c, which is above all modes: this function is the only thing up there that this folder
// calls.
//
// The mode in which a thread records, or will record when recording is started; or, where it is stopped, the one in
// which calls are only followed.
const struct mode *mode_for(const struct thread *t, int is_stopped);
// The thread's mode, even when it has none yet.
INTERNAL const struct mode *any_mode(const struct thread *t) { return t->mode ? t->mode : mode_for(t, 0); }

#endif
