// The end of recording in a process that may no longer make system calls.

#include "confined.h"

#include "../host/runtime.h"
#include "metadata.h"

#include <sys/prctl.h>

FATHOM_WITHOUT_HOOKS

void confine_end(uint64_t now) {
    int is_ready = runtime.state == STATE_READY && control_mode() != MODE_UNKNOWN;
    runtime_set_off();
    if (is_ready) metadata_end_quietly(FATHOM_END_CONFINED, now);
    fathom_store32(&runtime.state, STATE_OFF);
}

uint32_t confine_mode(void) { return (uint32_t)SYSTEM(prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0); }

int confine_unnoted(void) {
    if (runtime.seccomp_mode || !confine_mode()) return 0;
    confine_end(now_ticks());
    return 1;
}

FATHOM_WITHOUT_HOOKS_END
