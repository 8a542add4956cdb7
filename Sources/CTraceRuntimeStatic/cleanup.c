// This is apart from the other wrapped functions, so that only programs that use these functions link them and what
// they need.

#include "CTraceRuntimeCleanup.h"

FATHOM_WITHOUT_HOOKS

#define WRAP(name, note)                                                                                               \
    fathom_cleanup_function real_##name __asm__("__real___pthread_" #name);                                            \
    FATHOM_CLEANUP(name, "__wrap___pthread_" #name, real_##name, note)
WRAP(register_cancel, FATHOM_CLEANUP_BEGINS)
WRAP(register_cancel_defer, FATHOM_CLEANUP_BEGINS)
WRAP(unregister_cancel, FATHOM_CLEANUP_ENDS)
WRAP(unregister_cancel_restore, FATHOM_CLEANUP_ENDS)
WRAP(unwind_next, FATHOM_CLEANUP_DONE)

FATHOM_WITHOUT_HOOKS_END
