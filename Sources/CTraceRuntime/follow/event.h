// What a hook, or a note, tells of.

#ifndef FATHOM_EVENT_H
#define FATHOM_EVENT_H

#include "../host/base.h"

// An event of a signal handler that interrupted a hook.
struct side_event {
    uintptr_t function;
    uintptr_t call_site;
    uintptr_t stack_pointer;
    uint64_t ticks;
    uint64_t hook;  // HOOK_*
};
#define HOOK_ENTER 0u
#define HOOK_EXIT 1u
#define HOOK_LANDING 3u  // no hook: control landed in the frame at stack_pointer
#define HOOK_TAIL 2u  // an exit hook that was jumped to when the frame was gone already: optimising compilers do that
#define HOOK_SCOPE_END 4u  // no hook: the innermost named scope ends
#define HOOK_MARK 5u       // these end no call: a mark, whose name is `function`
#define HOOK_COUNTER 6u    // a counter's value, the bits of which are `call_site`
#define HOOK_SAVE 7u       // the chunk is to be finished
#define HOOK_SETTLE 8u     // recording was stopped
#define SIDE_LIMIT 1024u
// In place of the function of an exit hook that does not say whose exit it is: the stack pointer tells.
#define ANY_FUNCTION 1ul

#endif
