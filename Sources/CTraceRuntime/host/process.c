// The process's part: starting, forking, ending.

#include "process.h"

#include "../entry/control.h"
#include "../file/chunk.h"
#include "../file/metadata.h"
#include "../file/modules.h"
#include "../file/session.h"
#include "confine.h"
#include "environment.h"
#include "runtime.h"

#include <pthread.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct runtime runtime;

// Tells a program that has the runtime linked in, even a stripped one: an ELF note of owner "Fathom", type 1.
__asm__(".pushsection .note.fathom, \"a\", %note\n"
        ".balign 4\n"
        ".long 7, 4, 1\n"
        ".asciz \"Fathom\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");

// A hook can run before this library is relocated: in an IFUNC resolver of another library. Then this still reads as
// it stands in the file, where it is 0.
static const void *const relocated = &runtime;

// Takes the right to open the session and to register the process. Signals stay blocked as long: a handler's hook
// would wait for it for ever. 0 when the thread has it already, because what it calls in the C library was replaced by
// the program with hooked functions, or when nobody will ever give it back.
static int begin_start(uint64_t *signals) {
    uint64_t process = system_process_id(), self = process << 32 | system_thread_id(), holder = 0;
    if (__atomic_load_n(&runtime.starter, __ATOMIC_RELAXED) == self) return 0;
    *signals = system_block_signals();
    uint32_t tries = 0;
    while (!__atomic_compare_exchange_n(&runtime.starter, &holder, self, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        if (holder >> 32 != process) {
            // A thread that was left behind by a fork without handlers holds it, and who knows what else.
            fathom_store32(&runtime.state, STATE_OFF);
            system_restore_signals(*signals);
            return 0;
        }
        holder = 0;
        system_wait(tries++);
    }
    return 1;
}

static void end_start(uint64_t signals) {
    __atomic_store_n(&runtime.starter, 0, __ATOMIC_RELEASE);
    system_restore_signals(signals);
}

// Maps the buffers. Called as early as can be, because the program may change its root directory or its user later;
// what it takes to be part of the recording waits for the first hook, so that programs without any stay out of it.
static void open_session(char **environment) {
    uint64_t signals;
    if (!begin_start(&signals)) return;
    if (runtime.state == STATE_NEW) {
        if (session_open(environment)) {
            SYSTEM(madvise, &control, sizeof control, MADV_WIPEONFORK, 0, 0, 0);
            thread_key_create();
            fathom_store32(&runtime.state, STATE_OPEN);
        } else {
            control.mode = MODE_OFF;
            fathom_store32(&runtime.state, STATE_OFF);
        }
    }
    end_start(signals);
}

static void register_process(uint32_t parent) {
    runtime.pid = system_process_id();
    runtime.process = fathom_add32(&runtime.buffers->process_count, 1);
    runtime.thread_count = 0;
    runtime.metadata = NULL;
    runtime.metadata_sequence = 0;
    runtime.metadata_lock = runtime.modules_lock = 0;  // a thread that the fork left behind may have held them
    if (parent == FATHOM_NO_PROCESS) runtime.seccomp_mode = confine_mode();
    metadata_process(parent);
    // A fork's child has its parent's modules. The dynamic linker's lock may be held by a thread that is not here, so
    // what was just being loaded is not looked at before the child itself has loaded something.
    if (parent != FATHOM_NO_PROCESS) runtime.modules_stale = current.look = 0;
    runtime.control_lock = 0;
    control_set_mode();
    fathom_store32(&runtime.state, STATE_READY);
}

// In a fork's child: by pthread_atfork or, when fork was called behind the C library's back, at the first hook. `forker`
// is the process that called fork.
static void forget_parent(uint32_t forker) {
    runtime.forker = forker;
    if (runtime.state != STATE_READY) return;
    runtime.state = STATE_FORKED;
    control.mode = MODE_UNKNOWN;
    struct thread *t = &current;
    t->forked = 1;
    if (t->state == THREAD_ATTACHED && !t->idle) {
        // A handler that interrupted a hook has forked: the hook will go on here, too, and write where its parent's
        // does.
        t->state = THREAD_INTERRUPTED;
        if (t->chunk) session_shadow_slot(t->slot);
        t->limit = NULL;
        t->side_count = 0;  // the parent records those
        return;
    }
    t->idle = 0;
    t->state = THREAD_UNATTACHED;
    t->chunk = NULL;
    t->cursor = t->limit = NULL;
}

// No fork while another thread starts the recording: the child would have half of it, and that thread's locks.
static void before_fork(void) {
    struct thread *t = &current;
    t->forker = system_process_id();
    t->fork_starts = runtime.state != STATE_READY && runtime.state != STATE_OFF && begin_start(&t->fork_signals);
}

static void after_fork(void) {
    struct thread *t = &current;
    if (t->fork_starts) end_start(t->fork_signals);
    t->fork_starts = 0;
}

static void after_fork_in_child(void) {
    after_fork();
    forget_parent(current.forker);
}

int runtime_ready(void) {
    if (!*(const void *const volatile *)&relocated) return 0;
    if (runtime.state == STATE_NEW) open_session(NULL);
    // Its control page was wiped: a child of a fork that ran no handlers.
    if (runtime.state == STATE_READY && control.mode == MODE_UNKNOWN) forget_parent(runtime.pid);
    uint64_t signals;
    if (runtime.state != STATE_READY && runtime.state != STATE_OFF && begin_start(&signals)) {
        int is_image = runtime.state == STATE_OPEN;
        if (is_image) register_process(FATHOM_NO_PROCESS);
        if (runtime.state == STATE_FORKED) register_process(runtime.process);
        end_start(signals);
        // Last: who loads a library now holds the dynamic linker's lock, and may be waiting to start in its
        // constructor.
        if (is_image) modules_scan();
    }
    if (runtime.state == STATE_OFF) control.mode = MODE_OFF;
    return runtime.state == STATE_READY;
}

__attribute__((constructor)) static void started(int count, char **arguments, char **environment) {
    metadata_arguments(count, arguments, environment);
    runtime.stack_top = (uintptr_t)environment;
    environment_keep(environment);
    open_session(environment);
    // Not in open_session: it allocates, and a hook in an IFUNC resolver may come before the program's own malloc is
    // relocated. The kernel wipes `control` in a fork's child anyway; this is for kernels before 4.14.
    if (runtime.state != STATE_OFF) pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

int runtime_records(void) {
    return runtime.state == STATE_READY && control.mode != MODE_UNKNOWN && runtime.pid == system_process_id() &&
           !confine_unnoted();
}

// Gives the slots back at once: whoever starts many processes would otherwise leave slots behind until the recorder
// looks.
static void give_back(void) {
    metadata_finish();
    chunk_give_back(&current);
}

__attribute__((destructor)) static void ended(void) {
    if (!runtime_records()) return;
    if (runtime.modules_stale) modules_scan();
    metadata_end(FATHOM_END_EXIT);
    give_back();
}

void fathom_note_exit(void) { ended(); }

void fathom_note_exec(void) {
    if (!runtime_records()) return;
    metadata_end(FATHOM_END_EXEC);
    give_back();
}

void fathom_note_failed_exec(void) {
    if (runtime_records()) metadata_end(FATHOM_END_FAILED_EXEC);
}

FATHOM_WITHOUT_HOOKS_END
