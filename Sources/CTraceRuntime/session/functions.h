// The functions that options name, by their addresses in this process.

#ifndef FATHOM_FUNCTIONS_H
#define FATHOM_FUNCTIONS_H

#include "../host/base.h"
#include "CTraceFunctions.h"
#include "entries.h"

// Words as in the file, with addresses in memory, by open addressing with linear probing; 0: empty. Only one thread at
// a time changes it. An entry is changed by one store; a larger table takes the place of a full one by one store.
struct function_words {
    uint32_t shift;  // of the hash
    uint32_t mask;
    uint64_t words[];
};

struct named_functions {
    const struct function_words *words;
    uint32_t says;                          // FATHOM_SAYS_* of all functions that options name; 0: they name none
    uint32_t levels;                        // how many levels below a hit are recorded
    uint32_t does;                          // FATHOM_TRIGGER_* of all triggers
    const struct fathom_trigger *triggers;  // in the file: more may come with another module
    const uint64_t *condition_ticks;        // in the file: how long calls have to take for conditions on arguments
};
extern struct named_functions named_functions __attribute__((visibility("hidden")));

// FATHOM_SAYS_* of a function: what options say of its calls; 0: they do not name it. Any thread may call it, at any
// time: a table that was replaced stays as it was.
INTERNAL uint32_t functions_say(uintptr_t function) {
    // Acquire: another thread may have made the table a moment ago.
    const struct function_words *table = __atomic_load_n(&named_functions.words, __ATOMIC_ACQUIRE);
    // Fibonacci hashing: functions that lie one behind the other seldom have the same place.
    uint64_t place = (uint64_t)function * 0x9e3779b97f4a7c15ull >> table->shift;
    for (;; place++) {
        // Relaxed: nothing else depends on the word.
        uint64_t word = __atomic_load_n(&table->words[place & table->mask], __ATOMIC_RELAXED);
        if (word >> FATHOM_SAYS_BITS == function) return word & ((1u << FATHOM_SAYS_BITS) - 1);
        if (!word) return 0;
    }
}
// The trigger of a function, given its FATHOM_SAYS_*; NULL: it has none.
INTERNAL const struct fathom_trigger *functions_trigger(uint32_t says) {
    uint32_t number = (says & FATHOM_SAYS_TRIGGER) >> FATHOM_SAYS_TRIGGER_SHIFT;
    return number ? &named_functions.triggers[number - 1] : NULL;
}

int functions_open(void);    // maps the session's file, when the session is open; 0 when it cannot be mapped
void functions_close(void);  // none is named any more; no other thread runs
// From the first of these to the second, functions_of_module is called for every module, and finds its functions in the
// file with this number. What is found holds from the end on. 0 when the file cannot be mapped. The caller holds
// LOCK_MODULES.
int functions_begin_change(uint32_t number);
void functions_end_change(void);
// In a fork's child: a change that another thread had begun is not made, unless the child is asked for it as well.
void functions_after_fork(void);
// A module was found. Asks the recorder for its functions, and waits for a while, if nobody has asked before. 0 when
// they stay unknown. The caller holds LOCK_MODULES.
int functions_of_module(uintptr_t bias, const struct texts *texts, const char *build_id, size_t build_id_size,
                        const char *path, size_t path_size);
// Whether first calls are recorded, and nothing else: what is found of modules are entries, which get traps.
int functions_are_entries(void);
// Whether functions without hooks get detours (detours.h).
int functions_have_detours(void);
void functions_forget(uintptr_t low, uintptr_t high);  // the module there is gone; the caller holds the lock, too
// The id of the name of a function with a mark; 0 when there is no room for it.
uint32_t functions_mark(uintptr_t function);

#endif
