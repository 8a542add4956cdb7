// What a process that attaches makes this process call, after it has loaded the runtime here.
//
// Calls reach the runtime by changes from outside: the process that attaches points the relocations for the hooks here
// when fathom_attach has returned, and points them back before it calls fathom_detach.

#include "../file/modules.h"
#include "../follow/process.h"
#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

EXPORT int fathom_attach(const char *session) { return runtime_join(session); }

EXPORT void fathom_detach_soon(void) {
    if (runtime_records()) modules_scan(LOADER_PATIENCE);
}

EXPORT int fathom_detach(const uintptr_t *thread_pointers, size_t count) {
    return runtime_leave(thread_pointers, count);
}

FATHOM_WITHOUT_HOOKS_END
