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
    HOOK_TOLD,    // something is told of this moment
    HOOK_SAVE,    // what was recorded so far is to be made readable
    HOOK_SETTLE,  // recording was stopped
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

// What is told of a moment, in the bytes of its record. Whoever tells something new needs no more than a record for it.
#define TOLD_LIMIT 24u
struct told {
    uint16_t record;  // FATHOM_MARK, FATHOM_COUNTER, or one that says its size
    uint16_t size;    // of the payload, in bytes; even
    uint32_t terms;   // TOLD_*
    uint64_t payload[TOLD_LIMIT / sizeof(uint64_t)];
};

enum {
    // The program says it, on whatever stack it runs then. Its thread is recorded from now on, if it was not yet.
    TOLD_BY_PROGRAM = 1,
    // It belongs to the innermost call, which has just begun or ends next. Where that has no record, this has none.
    TOLD_OF_CALL = 2,
    // It is of memory. The loader's memory is among it, before what is loaded can be seen; and that of threads that
    // only free what others have allocated.
    TOLD_OF_MEMORY = 4,
};

// What is larger than TOLD_LIMIT is cut off.
INTERNAL struct told told_of(uint32_t record, const void *payload, size_t size, uint32_t terms) {
    if (size > TOLD_LIMIT) size = TOLD_LIMIT;
    struct told told = {(uint16_t)record, (uint16_t)size, terms, {0}};
    __builtin_memcpy(told.payload, payload, size);
    return told;
}

struct event {
    uintptr_t stack_pointer;
    union {
        struct {
            uintptr_t function, call_site;
            uintptr_t context;  // ENTER: the register in which Swift passes the asynchronous context
            // What the function's registers hold, as long as its hook has not returned: ENTER of a hook: a
            // struct registers; ENTER and EXIT of a sled: a struct sled_registers; NULL: not known
            const void *registers;
        } call;            // ENTER, EXIT, TAIL
        struct told told;  // TOLD
    };
    enum hook hook;  // says which of them there is
    // ENTER, EXIT: it comes from a sled. The stack pointer is where the function's return address lies, so it is the
    // same at both ends of a call, and no two open calls of a stack have the same.
    uint32_t is_sled;  // IS_SLED*
};
#define IS_SLED 1u
// The function may come by the sled at its beginning more than once in a call.
#define IS_SLED_AGAIN 2u
// It comes from the stub of a library call, or its return place (places.h), which are as a sled that is always open.
#define IS_PLACE 4u
// ENTER: how far behind the function's beginning the sled ends.
#define IS_SLED_SHIFT 8u

// Whether such a sled tells again of a call that has begun.
INTERNAL int is_again(const struct event *event, uintptr_t function, uintptr_t call_site, uintptr_t sp) {
    return event->is_sled & IS_SLED_AGAIN && function == event->call.function && call_site == event->call.call_site &&
           sp == event->stack_pointer;
}

INTERNAL int ends_calls(enum hook hook) {
    return hook == HOOK_EXIT || hook == HOOK_TAIL || hook == HOOK_LANDING || hook == HOOK_SCOPE_END;
}

#endif
