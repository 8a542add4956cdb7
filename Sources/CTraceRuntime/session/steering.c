// `fathom ctl` writes into the buffers what it wants (CTraceSteering.h), and the first hook that finds something new
// there comes here, on whatever thread that is.

#include "steering.h"

#include "../host/runtime.h"
#include "metadata.h"
#include "modules.h"
#include "sleds.h"

FATHOM_WITHOUT_HOOKS

// Whether anything is asked that this process has not heard of.
static int is_news(uint32_t number, uint32_t known) { return number && number != known; }

// Where what is asked was written over, or is just being written, nothing is taken up. What is being written is
// followed by another number. The caller holds LOCK_CONTROL, or no other thread runs.
static void take_up(void) {
    struct fathom_wish wish;
    uint32_t number = fathom_load32(&steering.asked.asked) & ~MODE_MASK;
    __builtin_memcpy(&wish, (const void *)&steering.asked.wish, sizeof wish);
    if (wish.sum == fathom_wish_sum(&wish)) {
        int differs =
            runtime.options.max_depth != wish.max_depth || runtime.options.min_cost_ticks != wish.min_cost_ticks;
        if (is_news(wish.limits_number, runtime.limits_number) && differs && !runtime.options.keeps) {
            runtime.options.max_depth = wish.max_depth;
            runtime.options.min_cost_ticks = wish.min_cost_ticks;
            runtime.options.slow = 1;
            fathom_add32(&runtime.options.generation, 1);
        }
        if (is_news(wish.functions_number, runtime.functions_number) && !runtime.options.keeps &&
            modules_change_functions(wish.functions_file)) {
            runtime.functions_number = wish.functions_number;
            runtime.options.slow = 1;
            fathom_add32(&runtime.options.generation, 1);
        }
        if (is_news(wish.run_number, runtime.run_number)) {
            // The moment that was asked for may be long gone, if the program was waiting meanwhile. Relaxed: the
            // mode, which is stored with release below, publishes it.
            if (!wish.runs && !runtime.paused) __atomic_store_n(&runtime.stop_ticks, wish.run_ticks, __ATOMIC_RELAXED);
            if (!wish.runs && !runtime.paused) fathom_add32(&runtime.stops, 1);
            runtime.paused = !wish.runs;
        }
        if (is_news(wish.save_number, runtime.save_number)) fathom_add32(&runtime.saves, 1);
        runtime.limits_number = wish.limits_number;
        runtime.run_number = wish.run_number;
        runtime.save_number = wish.save_number;
    }
    // Release: a thread that takes over the number finds what was taken up with it.
    __atomic_store_n(&runtime.options.number, number, __ATOMIC_RELEASE);
    runtime_set_mode();
    if (!runtime.steered) return;
    runtime.steered->functions_number = runtime.functions_number;
    runtime.steered->taken_ticks = now_ticks();
    fathom_store32(&runtime.steered->taken, number);
}

void steering_take(void) {
    if (control_mode() == MODE_OFF) return runtime_set_off();
    if (confine_unnoted()) return;
    uint32_t saves = fathom_load32(&runtime.saves);
    uint64_t signals = lock_take(LOCK_CONTROL);
    if (control_is_behind() && control_mode() != MODE_UNKNOWN && control_mode() != MODE_OFF) take_up();
    lock_give(LOCK_CONTROL, signals);
    sleds_heed();
    if (saves == fathom_load32(&runtime.saves)) return;
    if (runtime.modules_stale) modules_scan(LOADER_NOW);
    metadata_finish();
}

// A place where the process can tell of itself: the one that it had as another program, or any that is free.
static struct fathom_steered *find_place(void) {
    char *start = (char *)runtime.buffers + fathom_steering_offset(runtime.slots_offset) + FATHOM_STEERED_OFFSET;
    struct fathom_steered *places = (struct fathom_steered *)start;
    for (uint32_t i = 0; i < FATHOM_STEERED_LIMIT; i++)
        if (fathom_load32(&places[i].pid) == runtime.pid) return &places[i];
    for (uint32_t i = 0; i < FATHOM_STEERED_LIMIT; i++)
        if (!fathom_load32(&places[i].pid) && fathom_swap32(&places[i].pid, 0, runtime.pid)) return &places[i];
    return NULL;
}

void steering_join(void) {
    struct fathom_steered *place = find_place();
    if (place) {
        place->process = runtime.process;
        place->threads = place->current = 0;
    }
    runtime.steered = place;
    take_up();
}

void steering_leave(void) {
    struct fathom_steered *place = runtime.steered;
    runtime.steered = NULL;
    if (place) fathom_store32(&place->pid, 0);
}

void steering_tell_thread(uint32_t *known, uint32_t stamp, int change) {
    uint64_t signals = lock_take(LOCK_CONTROL);
    struct fathom_steered *steered = runtime.steered;
    int was_current = change <= 0 && *known == runtime.stamp, is_current = change >= 0 && stamp == runtime.stamp;
    if (change >= 0) *known = stamp;
    if (steered) {
        steered->threads += (uint32_t)change;
        steered->current += (uint32_t)(is_current - was_current);
    }
    lock_give(LOCK_CONTROL, signals);
}

FATHOM_WITHOUT_HOOKS_END
