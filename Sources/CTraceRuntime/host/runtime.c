// What all threads of the process share.

#include "runtime.h"

FATHOM_WITHOUT_HOOKS

struct fathom_waiting fathom_waiting;

_Alignas(PAGE_SIZE) union control control;
_Alignas(PAGE_SIZE) union steering steering;
struct runtime runtime;

void runtime_set_mode(void) {
    uint32_t mode = runtime.is_joining ? MODE_OFF : mode_of(&runtime.options, runtime.paused != 0);
    uint64_t word = control_word(mode, runtime.options.number, runtime.options.generation);
    int changes = mode != control_mode() || runtime.options.generation != control.generation;
    // Release: a thread that reads the generation here finds the options that it stands for.
    __atomic_store_n(&control.word, word, __ATOMIC_RELEASE);
    if (!changes) return;
    // A thread that finds this finds the word, too.
    fathom_add32(&runtime.stamp, 1);
    struct fathom_steered *steered = runtime.steered;
    if (!steered) return;
    steered->max_depth = runtime.options.max_depth;
    steered->min_cost_ticks = runtime.options.min_cost_ticks;
    steered->current = 0;
    fathom_store32(&steered->state, runtime.paused ? FATHOM_STEERED_STOPPED : FATHOM_STEERED_RECORDING);
}

void runtime_set_running(int runs, uint64_t ticks) {
    // Relaxed: the mode, which is stored with release, publishes it.
    if (!runs || !runtime.paused) __atomic_store_n(&runtime.stop_ticks, ticks, __ATOMIC_RELAXED);
    if (!runs && !runtime.paused) fathom_add32(&runtime.stops, 1);
    runtime.paused = !runs;
    runtime_set_mode();
}

void runtime_set_off(void) {
    uint32_t base = (fathom_load32(&steering.asked.asked) & ~MODE_MASK) - MODE_OFF;
    fathom_store32(&control.base, base);
    if (runtime.steered) fathom_store32(&runtime.steered->state, FATHOM_STEERED_OFF);
}

void runtime_start(void) {
    uint64_t signals = lock_take(LOCK_CONTROL);
    if (control_mode() == MODE_PAUSED) runtime_set_running(1, now_ticks());
    lock_give(LOCK_CONTROL, signals);
}

void runtime_stop(void) {
    uint64_t signals = lock_take(LOCK_CONTROL);
    uint32_t mode = control_mode();
    if (mode != MODE_UNKNOWN && mode != MODE_OFF && mode != MODE_PAUSED) runtime_set_running(0, now_ticks());
    lock_give(LOCK_CONTROL, signals);
}

uint32_t fathom_memory_on;

FATHOM_WITHOUT_HOOKS_END
