// What all threads of the process share.

#include "runtime.h"

FATHOM_WITHOUT_HOOKS

_Alignas(PAGE_SIZE) union control control;
struct runtime runtime;

void runtime_set_mode(void) {
    uint32_t mode = mode_of(&runtime.options, runtime.paused != 0);
    // Release: a thread that reads the generation here finds the options that it stands for.
    __atomic_store_n(&control.word, control_word(mode, runtime.options.generation), __ATOMIC_RELEASE);
}

FATHOM_WITHOUT_HOOKS_END
