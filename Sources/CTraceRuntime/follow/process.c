// What a process does: it starts, forks, joins a session and leaves it.

#include "process.h"

#include "../host/loader.h"
#include "../host/runtime.h"
#include "../host/text.h"
#include "../session/detours.h"
#include "../session/functions.h"
#include "../session/library_slots.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "../session/session.h"
#include "../session/sleds.h"
#include "../session/steering.h"
#include "inherited.h"
#include "places.h"
#include "roster.h"
#include "thread.h"

#include <pthread.h>
#include <sys/mman.h>

FATHOM_WITHOUT_HOOKS

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

// A hook can run before this library is relocated, in an IFUNC resolver of another library. Then this still reads as it
// is in the file, which is 0.
static const void *const relocated = &runtime;

// In runtime.starter, of a thread that forks.
#define FORKS (1ull << 31)

// Takes the right to open the session and to register the process. Signals stay blocked meanwhile, because a handler's
// hook would wait for that right for ever. Returns 0 when the thread has the right already, because the program has
// replaced what this calls in the C library by functions with hooks. Also returns 0 when nobody will give the right
// back soon, or ever.
static int begin_start(uint64_t *signals) {
    uint64_t process = system_process_id(), self = process << 32 | system_thread_id(), holder = 0;
    // Relaxed: only this thread can have stored its own id.
    if ((__atomic_load_n(&runtime.starter, __ATOMIC_RELAXED) & ~FORKS) == self) return 0;
    *signals = system_block_signals();
    uint32_t tries = 0;
    uint64_t begin = system_monotonic_ns();
    locks_expect_order(LOCK_START);
    while (!__atomic_compare_exchange_n(&runtime.starter, &holder, self, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        int is_left = holder >> 32 != process;
        // The thread that holds it, and perhaps other things, was left behind by a fork without handlers.
        if (is_left) fathom_store32(&runtime.state, STATE_OFF);
        // A thread that forks runs code of the program's meanwhile, which may wait for this thread.
        if (is_left || (holder & FORKS && system_monotonic_ns() - begin > LOADER_PATIENCE)) {
            system_restore_signals(*signals);
            return 0;
        }
        holder = 0;
        system_wait(tries++);
    }
    locks_note(LOCK_START, 1);
    return 1;
}

static void end_start(uint64_t signals) {
    locks_note(LOCK_START, 0);
    // Release, for the thread that takes it next and so acquires what was started.
    __atomic_store_n(&runtime.starter, 0, __ATOMIC_RELEASE);
    system_restore_signals(signals);
}

// Maps the buffers. This is called as early as possible, because the program may change its root directory or its user
// later. What it takes to be part of the recording waits for the first hook, so that programs without hooks stay out of
// it.
void runtime_open(char **environment) {
    uint64_t signals;
    if (runtime.state == STATE_NEW) thread_key_create();
    if (!begin_start(&signals)) return;
    if (runtime.state == STATE_NEW) {
        // Without the functions that are named, much would be recorded that nobody asked for.
        if (session_open(environment) && (!runtime.head.has_functions || functions_open())) {
            system_wipe_on_fork(&control, sizeof control);
            fathom_store32(&runtime.state, STATE_OPEN);
        } else {
            runtime_set_off();
            fathom_store32(&runtime.state, STATE_OFF);
        }
    }
    end_start(signals);
}

static void tell_unseen_memory(void) {
    struct fathom_unseen_memory_item item = {.ticks = now_ticks()};
    struct part parts[] = {ITEM_BODY(item)};
    metadata_append(FATHOM_ITEM_UNSEEN_MEMORY, parts, 1);
}

static void register_process(uint32_t parent) {
    runtime.pid = system_process_id();
    runtime.process = fathom_add32(&runtime.buffers->process_count, 1);
    runtime.thread_count = 0;
    places_begin();
    runtime.metadata = NULL;
    runtime.metadata_sequence = 0;
    if (parent == FATHOM_NO_PROCESS) runtime.seccomp_mode = system_seccomp_mode();
    else session_forget_populated();
    metadata_process(parent);
    steering_join();
    uint32_t tells_memory = runtime.head.tells & FATHOM_TELLS_MEMORY;
    fathom_waiting.on = (runtime.head.tells & FATHOM_TELLS_WAITS) != 0;
    fathom_memory_on = tells_memory && fathom_image.memory_is_seen && fathom_image.memory_is_seen();
    if (tells_memory && !fathom_memory_on) tell_unseen_memory();
    fathom_store32(&runtime.state, STATE_READY);
}

// Called in a fork's child: by pthread_atfork or, when fork was called without the C library, at the first hook.
// `forker` is the process that called fork.
static void forget_parent(uint32_t forker) {
    runtime.forker = forker;
    runtime.steered = NULL;  // that is the parent's
    locks_after_fork();
    loader_after_fork_in_child();
    functions_after_fork();
    untold_forget();
    if (runtime.state != STATE_READY) return;
    runtime.state = STATE_FORKED;
    control.word = 0;
    // A fork's child has its parent's modules. A thread that is not here may hold the dynamic linker's lock, so what
    // was just being loaded is looked at only after the child itself has loaded something.
    runtime.modules_stale = 0;
    thread_fork(&current);
}

// The fork that this thread is in.
static __thread struct {
    uint64_t signals;  // blocked before it; only if `starts`
    uint32_t starts;   // the thread is `runtime.starter` meanwhile
    uint32_t forker;   // process id of whoever forks
} forking __attribute__((tls_model("initial-exec")));

// Nobody forks while another thread starts the recording: the child would have half of it, and that thread's locks.
static void before_fork(void) {
    forking.forker = system_process_id();
    forking.starts = runtime.state != STATE_READY && runtime.state != STATE_OFF && begin_start(&forking.signals);
    if (forking.starts) {
        locks_note(LOCK_START, 0);
        // Relaxed: those that wait only look who has it.
        __atomic_fetch_or(&runtime.starter, FORKS, __ATOMIC_RELAXED);
    }
    loader_before_fork();
}

static void after_fork(void) {
    loader_after_fork();
    if (forking.starts) end_start(forking.signals);
    forking.starts = 0;
}

static void after_fork_in_child(void) {
    forget_parent(forking.forker);
    after_fork();
    if (runtime.head.tells & FATHOM_TELLS_PROCESSES && !confine_unnoted()) runtime_ready();
}

int runtime_ready(void) {
    if (!*(const void *const volatile *)&relocated) return 0;
    if (runtime.state == STATE_NEW) runtime_open(NULL);
    // The control page was wiped, so this is the child of a fork that ran no handlers.
    if (runtime.state == STATE_READY && control_mode() == MODE_UNKNOWN) forget_parent(runtime.pid);
    uint64_t signals;
    uint32_t state = fathom_load32(&runtime.state);
    if (state != STATE_READY && state != STATE_OFF && begin_start(&signals)) {
        int is_image = runtime.state == STATE_OPEN;
        if (is_image) register_process(FATHOM_NO_PROCESS);
        if (runtime.state == STATE_FORKED) register_process(runtime.process);
        end_start(signals);
        // This comes last, because a thread that loads a library now holds the dynamic linker's lock, and the library's
        // constructor may be waiting to start.
        if (is_image) modules_scan(LOADER_PATIENCE);
    }
    if (runtime.state == STATE_OFF) runtime_set_off();
    return runtime.state == STATE_READY;
}

// In a fork's child the kernel wipes `control` anyway. This is for kernels before 4.14.
void runtime_watch_forks(void) {
    static int watches;
    if (runtime.state == STATE_OFF || watches) return;
    watches = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
}

// ---- a process that was started without a session

static void forget_session(void) {
    uintptr_t stack_top = runtime.stack_top;
    const char *arguments = runtime.arguments, *arguments_end = runtime.arguments_end;
    const char *environment_end = runtime.environment_end;
    session_close();
    functions_close();
    modules_forget();
    sleds_forget_all();
    names_forget();
    metadata_forget();
    __builtin_memset(&runtime, 0, sizeof runtime);
    __builtin_memset(&fathom_waiting, 0, sizeof fathom_waiting);
    runtime.stack_top = stack_top;
    runtime.arguments = arguments;
    runtime.arguments_end = arguments_end;
    runtime.environment_end = environment_end;
    inherited_forget();
    runtime_set_off();
    runtime.state = STATE_OFF;
}

uint32_t runtime_is_attached;

int runtime_join(const char *session) {
    static char variable[sizeof "FATHOM_SESSION=" + PATH_SIZE] = "FATHOM_SESSION=";
    char *environment[] = {variable, NULL};
    size_t name = sizeof "FATHOM_SESSION=" - 1, size = text_length(session);
    if (runtime.state == STATE_READY || runtime.state == STATE_FORKED) return FATHOM_ATTACH_IS_RECORDED;
    if (size >= PATH_SIZE) return FATHOM_ATTACH_CANNOT_OPEN;
    __builtin_memcpy(variable + name, session, size + 1);
    forget_session();
    control.word = 0;
    runtime.state = STATE_NEW;
    runtime.is_joining = 1;
    runtime_open(environment);
    if (runtime.state != STATE_OPEN || !runtime_ready()) {
        forget_session();
        return FATHOM_ATTACH_CANNOT_OPEN;
    }
    runtime_watch_forks();
    runtime_is_attached = 1;
    return FATHOM_ATTACH_DONE;
}

void runtime_join_end(void) {
    uint64_t signals = lock_take(LOCK_CONTROL);
    runtime.is_joining = 0;
    if (runtime.state == STATE_READY) runtime_set_mode();
    lock_give(LOCK_CONTROL, signals);
    if (runtime.state != STATE_READY) return;
    detours_begin();
    detours_tell();
    library_slots_scan();
}

int runtime_leave(const uintptr_t *thread_pointers, size_t count) {
    if (runtime.state != STATE_READY && runtime.state != STATE_FORKED) return 0;
    if (runtime.starter || !locks_are_free() || !loader_is_free()) return 1;
    for (size_t i = 0; i < count; i++)
        if (thread_is_inside(thread_at(thread_pointers[i]))) return 1;
    if (!sleds_forget_all()) return 1;
    detours_restore();
    library_slots_restore();
    for (size_t i = 0; i < count; i++) thread_leave(thread_at(thread_pointers[i]));
    untold_sweep();
    untold_forget();
    if (runtime.state == STATE_READY) {
        metadata_end(FATHOM_END_DETACHED);
        metadata_finish();
        steering_leave();
    }
    forget_session();
    runtime_is_attached = 0;
    return 0;
}

int runtime_records(void) {
    // This asks first whether other system calls may be made.
    return runtime.state == STATE_READY && control_mode() != MODE_UNKNOWN && !confine_unnoted() &&
           runtime.pid == system_process_id();
}

FATHOM_WITHOUT_HOOKS_END
