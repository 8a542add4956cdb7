// What is told of what is followed. The followers in this folder know which calls are open, and nothing of records; a
// mode is a table of what to do when that changes, and what a new mode needs is one, in a file of its own in modes/.
//
// Most changes are told twice. Before it, the mode hears what is about to change, makes room, may move the time on,
// and answers; then the change is made, by one store as a rule; then the mode hears of it again, together with its
// answer. So a chunk that begins with the calls that are open begins with those before the change, and a signal
// handler that jumps away in between leaves calls and records that fit together: the next chunk starts from the calls.
//
// Of all of these the thread is busy, but `fork` and `lost`. Where a time is passed, it is in ticks.

#ifndef FATHOM_MODE_H
#define FATHOM_MODE_H

#include "../host/modes.h"
#include "thread.h"

enum begins {
    BEGINS_THREAD,   // the thread was attached for the first time
    BEGINS_AGAIN,    // it was attached again, after its last TLS destructor
    BEGINS_IN_CHILD,  // it was attached in a fork's child; what is open there, it has inherited
    BEGINS_RUNNING,  // recording was started; what is open is marked as inherited
};

enum ends {
    ENDS_FOR_NOW,    // it goes on at once, but what was told so far is to be complete
    ENDS_ABANDONED,  // a handler jumped out of a slow path: what was told last may be half of it
    ENDS_STOPPED,    // recording was stopped
    ENDS_THREAD,     // the thread ends; all its calls have ended
    ENDS_PROCESS,    // the process is about to, and calls are open
};

struct mode {
    // A slow path begins. What the hooks have only counted since the last one is to be seen to.
    void (*settle)(struct thread *t);
    // What is open is known from here on.
    void (*begin)(struct thread *t, enum begins how);
    // Nothing more comes for now. `now` is the time of the end.
    void (*end)(struct thread *t, enum ends how, uint64_t now);
    // This is a fork's child, and the thread the one that forked; t->state tells whether it did so in the midst of a
    // hook.
    void (*fork)(struct thread *t);

    // A call begins, which becomes the innermost one. It may be made FRAME_HIDDEN here. `context` is Swift's.
    int (*before_enter)(struct thread *t, struct frame *call, uint64_t *now);
    void (*enter)(struct thread *t, int answer, uintptr_t context, uint64_t now);
    // The innermost call ends by its exit hook; it is t->top before that, and t->top + 1 behind it.
    int (*before_exit)(struct thread *t, uint64_t *now);
    void (*exit)(struct thread *t, int answer, uint64_t now);
    // The innermost *count calls end without theirs. What is answered holds for as many of them as are left in *count,
    // from the innermost one on: the others are asked for again.
    int (*before_unwind)(struct thread *t, uint32_t *count, uint64_t *now);
    void (*unwind)(struct thread *t, int answer, uint32_t count, uint64_t now);
    // The thread goes on on another stack, whose calls are another lane's.
    void (*before_lane)(struct thread *t);
    void (*lane)(struct thread *t);
    // A mark or a counter.
    void (*moment)(struct thread *t, enum hook hook, uint32_t name, uint64_t value, uint64_t now);
    // An enter that no call becomes of, or an exit that no call was found for. The thread may be in any state.
    void (*lost)(struct thread *t, enum hook hook);
#ifdef FATHOM_VALID
    int (*is_valid)(const struct thread *t);  // whether what the mode itself keeps of the thread can be
#endif
};

// By MODE_*. The table stands above all modes, in modes/modes.c; this name is the only thing up there that this folder
// knows of.
extern const struct mode *const modes[MODE_LIMIT] __attribute__((visibility("hidden")));

// That by whose options a thread records, or will when recording is started.
INTERNAL const struct mode *recording_mode(const struct thread *t) { return modes[t->slow ? MODE_SLOW : MODE_TRACE]; }
// That of a thread which has none yet.
INTERNAL const struct mode *any_mode(const struct thread *t) { return t->mode ? t->mode : recording_mode(t); }

#endif
