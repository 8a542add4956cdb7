// What all threads of the process share.

#include "runtime.h"

FATHOM_WITHOUT_HOOKS

struct fathom_waiting fathom_waiting;

_Alignas(PAGE_SIZE) union control control;
struct runtime runtime;

void runtime_set_mode(void) {
    uint32_t mode = mode_of(&runtime.options, runtime.paused != 0);
    // Release: a thread that reads the generation here finds the options that it stands for.
    __atomic_store_n(&control.word, control_word(mode, runtime.options.generation), __ATOMIC_RELEASE);
}

void runtime_set_running(int runs) {
    // Relaxed: the mode, which is stored with release, publishes it.
    if (!runs || !runtime.paused) __atomic_store_n(&runtime.stop_ticks, now_ticks(), __ATOMIC_RELAXED);
    runtime.paused = !runs;
    runtime_set_mode();
}

void runtime_start(void) {
    uint64_t signals = lock_take(&runtime.control_lock);
    if (control.mode == MODE_PAUSED) runtime_set_running(1);
    lock_give(&runtime.control_lock, signals);
}

void runtime_stop(void) {
    uint64_t signals = lock_take(&runtime.control_lock);
    if (control.mode != MODE_UNKNOWN && control.mode != MODE_OFF && control.mode != MODE_PAUSED) runtime_set_running(0);
    lock_give(&runtime.control_lock, signals);
}

FATHOM_WITHOUT_HOOKS_END
