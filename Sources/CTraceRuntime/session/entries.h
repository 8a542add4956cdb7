// Functions whose first call is to be recorded: a trap stands in place of the first byte of each, until it is called.
// The recorder, who knows symbols, tells where they begin (CTraceFunctions.h).

#ifndef FATHOM_ENTRIES_H
#define FATHOM_ENTRIES_H

#include "../host/base.h"

// Only x86-64 has a trap of one byte, which can be put in place and taken away while other threads run.
#define TRAP 0xccu

enum taken {
    TAKEN_NONE,   // no trap was ever there
    TAKEN_AGAIN,  // another call was faster; the function can be called now
    TAKEN_FIRST,  // this is the first call, and the function can be called now
};

// An executable segment of a module.
struct text {
    uintptr_t low, high;
};
// Most modules have one. BOLT adds one for what it has moved. What lies in further ones is left as it is.
#define TEXT_LIMIT 4u
struct texts {
    struct text parts[TEXT_LIMIT];
    uint32_t count;
};

// Puts traps where `words` say, as in the recorder's table. 0 when the system does not let the code be written to. The
// caller holds LOCK_MODULES, or no other thread runs.
int entries_arm(uintptr_t bias, const char *words, uint32_t count, struct text text);
// Takes the trap at `address` away. Any thread may call it at any time.
enum taken entries_take(uintptr_t address);
// Takes all traps in [low, high) away, which are then never hit: the program changes that memory itself.
void entries_give_up(uintptr_t low, uintptr_t high);
void entries_give_up_all(void);                      // and those of modules to come
void entries_forget(uintptr_t low, uintptr_t high);  // the module there is gone; the caller holds the lock, too

#endif
