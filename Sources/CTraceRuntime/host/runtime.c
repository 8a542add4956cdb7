// What all threads of the process share.

#include "runtime.h"

FATHOM_WITHOUT_HOOKS

_Alignas(PAGE_SIZE) union control control;
struct runtime runtime;

void runtime_set_mode(void) {
    uint32_t mode = runtime.paused ? MODE_PAUSED : runtime.slow ? MODE_SLOW : MODE_TRACE;
    // Release: a thread that reads the generation here finds the options that it stands for.
    __atomic_store_n(&control.word, control_word(mode, runtime.generation), __ATOMIC_RELEASE);
}

FATHOM_WITHOUT_HOOKS_END
