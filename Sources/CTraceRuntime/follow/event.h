// What a hook, or a note, reports.

#ifndef FATHOM_EVENT_H
#define FATHOM_EVENT_H

#include "../host/base.h"

enum hook {
    HOOK_NONE,       // no event, or none yet
    HOOK_ENTER,      // a call begins; a named scope does, too
    HOOK_EXIT,       // the call whose function called the hook ends
    HOOK_TAIL,       // the same, by a hook that optimised code jumped to when the frame was gone already
    HOOK_LANDING,    // no hook: control landed in the frame at stack_pointer
    HOOK_SCOPE_END,  // no hook: the innermost named scope ends
    // The following end no call.
    HOOK_MARK,     // a mark
    HOOK_COUNTER,  // a counter's value
    HOOK_WAIT,     // the innermost call waits
    HOOK_WAKE,     // the thread is about to end a wait of others
    HOOK_MEMORY,   // memory is allocated or freed
    HOOK_SAVE,     // what was recorded so far is to be made readable
    HOOK_SETTLE,   // recording was stopped
};

// Stands in place of the function for an exit hook that does not say which function ends. The stack pointer tells.
#define ANY_FUNCTION 1ul
// The call site and the return address of such a hook. They differ, because it is never jumped to.
#define NO_CALL_SITE 0ul
#define NO_RETURN_ADDRESS 1ul

// An exit hook that was jumped to returns to where its function would have returned: to that function's call site.
INTERNAL enum hook hook_of_exit(uintptr_t call_site, uintptr_t return_address) {
    return return_address == call_site ? HOOK_TAIL : HOOK_EXIT;
}

struct registers;
struct sled_registers;

struct event {
    uintptr_t stack_pointer;
    union {
        struct {
            uintptr_t function, call_site;
            uintptr_t context;  // ENTER: the register in which Swift passes the asynchronous context
            // What the function's registers hold, as long as its hook has not returned: ENTER of a hook: a
            // struct registers; ENTER and EXIT of a sled: a struct sled_registers; NULL: not known
            const void *registers;
        } call;  // ENTER, EXIT, TAIL
        struct {
            uint64_t name, value;
        } moment;                        // MARK; COUNTER, whose value is a double's bits
        const struct fathom_wait *wait;  // WAIT, WAKE; no handler's event is kept
        struct {
            uint64_t address, size;
            uint32_t record;  // FATHOM_ALLOCATED, or another one of memory
        } memory;             // MEMORY
    };
    enum hook hook;  // says which of them there is
    // ENTER, EXIT: it comes from a sled. The stack pointer is where the function's return address lies, so it is the
    // same at both ends of a call, and no two open calls of a stack have the same.
    uint32_t is_sled;
};

INTERNAL int ends_calls(enum hook hook) {
    return hook == HOOK_EXIT || hook == HOOK_TAIL || hook == HOOK_LANDING || hook == HOOK_SCOPE_END;
}

#endif
