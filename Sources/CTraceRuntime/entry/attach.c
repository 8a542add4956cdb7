// What a process that attaches makes this process call, after it has loaded the runtime here.
//
// Calls reach the runtime by changes from outside: the process that attaches points the relocations for the hooks here
// when fathom_attach has returned, and points them back before it calls fathom_detach. Open sleds lead here from
// fathom_attach on; until fathom_attach_begin, they return at once.

#include "../follow/inherited.h"
#include "../follow/process.h"
#include "../host/runtime.h"
#include "../session/detours.h"
#include "../session/library_slots.h"
#include "../session/modules.h"
#include "../session/sleds.h"
#include "../session/steering.h"
#include "CTraceRuntime.h"

FATHOM_WITHOUT_HOOKS

// Where whoever may not make this process call anything any more, because that would be a system call too many, writes
// what runtime_set_off and confine_end write: to *base, what *asked says without the bits of `mask`, less `mode`; to
// *state, `off`. To *is_attached, 0. Open sleds lead here by code of `stubs_size` bytes in their product.
__attribute__((visibility("default"))) const struct {
    const uint32_t *asked;
    uint32_t *base, *state, *is_attached;
    uint32_t mask, mode, off, stubs_size;
} fathom_attach_words = {
    &steering.asked.asked,
    &control.base,
    &runtime.state,
    &runtime_is_attached,
    MODE_MASK,
    MODE_OFF,
    STATE_OFF,
    SLED_STUB_COUNT *SLED_STUB_SIZE,
};

EXPORT int fathom_attach(const char *session) {
    sleds_begin();
    return runtime_join(session);
}

EXPORT uint64_t *fathom_attach_room(size_t size) { return inherited_room(size); }

EXPORT void fathom_attach_move(void) {
    size_t threads, count;
    uint64_t *addresses = inherited_addresses(&threads, &count);
    detours_move(addresses, threads, count);
}

EXPORT void fathom_attach_begin(void) { runtime_join_end(); }

EXPORT void fathom_detach_soon(void) {
    if (runtime_records()) modules_scan(LOADER_PATIENCE);
    library_slots_restore();  // whoever detaches looks at the slots again
}

EXPORT int fathom_detach(const uintptr_t *thread_pointers, size_t count) {
    return runtime_leave(thread_pointers, count);
}

// Takes up what is asked of a process that waits to be recorded: no hook does while all sleds are closed. Needs no lock
// but the runtime's own.
EXPORT void fathom_heed(void) {
    if (runtime_records()) steering_take();
}

FATHOM_WITHOUT_HOOKS_END
