// Programs that confine themselves. Once they have, the runtime's own system calls, or its reading of the counter,
// would end the program. So the runtime ends recording before the program is confined, in a way that needs neither.
// When the system call that confines fails, recording goes on.

#include "../follow/process.h"
#include "../follow/side.h"
#include "../host/runtime.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "CTraceRuntime.h"
#include "image.h"

#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

FATHOM_WITHOUT_HOOKS

// Nobody knows which threads are in the middle of a chunk switch, but no switch takes as long as this.
#define CHUNK_SWITCH_TIME 2000000u  // ns

// What is remembered while the program asks to be confined.
static __thread struct {
    uint32_t begun;
    uint32_t state, mode;  // of the thread, and control's, before it
    uint64_t idle, ticks;
} confinement __attribute__((tls_model("initial-exec")));

// Prepares for the end, while system calls are still allowed. 0 when there is nothing to end.
static int begin(int all_threads) {
    struct thread *t = &current;
    // A filter may forbid what a signal's handler returns by.
    traps_give_up();
    if (runtime.state == STATE_OFF || confinement.begun) return 0;
    if (runtime.state == STATE_READY && control_mode() != MODE_UNKNOWN) {
        if (!runtime_records()) return 0;  // vfork's child: its parent goes on
        if (runtime.modules_stale) modules_scan(LOADER_PATIENCE);
        side_give_back(t);
        metadata_reserve_end();
    }
    confinement.begun = 1;
    confinement.state = t->state;
    confinement.idle = t->idle;
    confinement.mode = control_mode();
    // From here on the hooks of signal handlers do nothing.
    t->state = THREAD_ATTACHING;
    t->idle = 0;
    if (all_threads) {
        runtime_set_off();
        system_sleep(CHUNK_SWITCH_TIME);
    }
    confinement.ticks = now_ticks();
    return 1;
}

void fathom_note_confined(long result) {
    struct thread *t = &current;
    if (result >= 0) return confine_end(confinement.ticks);
    if (runtime.state == STATE_OFF) return;
    if (control_mode() == MODE_OFF) {
        if (confinement.mode == MODE_UNKNOWN) control.word = 0;
        else runtime_set_mode();
    }
    t->state = confinement.state;
    confinement.begun = 0;
    BARRIER();
    t->idle = confinement.idle;
}

// A filter of NULL confines nothing: libraries pass it to ask what the kernel supports.
static int sets_seccomp(int by_filter, unsigned long filter) { return !by_filter || filter; }

int fathom_note_prctl(int option, unsigned long a, unsigned long b) {
    if (option == PR_SET_TSC) return a == PR_TSC_SIGSEGV && begin(0);
    return option == PR_SET_SECCOMP && sets_seccomp(a == SECCOMP_MODE_FILTER, b) && begin(0);
}

int fathom_note_system_call(long number, long a, long b, long c) {
    // Masks and actions that do not go by the functions that keep SIGTRAP the runtime's.
    if ((number == SYS_rt_sigprocmask && b) || (number == SYS_rt_sigaction && a == SIGTRAP)) traps_give_up();
    if (number == SYS_prctl) return fathom_note_prctl((int)a, (unsigned long)b, (unsigned long)c);
    if (number != SYS_seccomp || (a != SECCOMP_SET_MODE_STRICT && a != SECCOMP_SET_MODE_FILTER)) return 0;
    return sets_seccomp(a == SECCOMP_SET_MODE_FILTER, (unsigned long)c) && begin((b & SECCOMP_FILTER_FLAG_TSYNC) != 0);
}

FATHOM_WITHOUT_HOOKS_END
