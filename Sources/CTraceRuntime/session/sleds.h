// Places in a product's code that `fathom build --dormant` has left for hooks: closed, they do nothing; open, they are
// hooks. A product may be open while its threads run.

#ifndef FATHOM_SLEDS_H
#define FATHOM_SLEDS_H

#include "sled_list.h"

// What the sleds' stubs go on with (entry/sled_hooks.c), in this order. The first ones are for functions whose sled
// lies so many bytes behind the function's beginning: behind an instruction that guards jumps, and behind one to align
// it. The last one is for all others, and for functions that may come by that sled again (sled_loops.h).
#define SLED_STUBS(ROW) ROW(enter_0) ROW(enter_1) ROW(enter_4) ROW(enter_5) ROW(leave) ROW(tail) ROW(enter_again)
enum {
#define SLED_STUB_NUMBER(name) SLED_##name,
    SLED_STUBS(SLED_STUB_NUMBER)
#undef SLED_STUB_NUMBER
        SLED_STUB_COUNT
};
#define SLED_STUB_SIZE 16u  // bytes of a stub
// How far behind its function's beginning an open sled lies that leads to the last one and ends here.
INTERNAL uintptr_t sled_distance(uintptr_t end) {
    const uint8_t *prefixes = (const uint8_t *)end - 9;
    return (prefixes[0] >> 3 & 3u) | (prefixes[1] >> 3 & 3u) << 2 | (prefixes[2] >> 3 & 3u) << 4 |
           (prefixes[3] >> 4 & 1u) << 6;
}
// Where they lead to, in entry/sled_hooks.c. Nobody but sled_code.c looks there.
extern const uintptr_t sled_targets[SLED_STUB_COUNT] __attribute__((visibility("hidden")));

void sleds_begin(void);  // called before anything else here; until then, sleds stay closed

int sleds_look(void);  // whether a module that is loaded now has sleds
// Finds the modules with sleds that are loaded now, opens what options ask for of those that were not known, unless the
// process waits to be recorded, and tells the session. Any thread may call it that is not in a hook's fast path.
void sleds_scan(void);
// Opens and closes the sleds of all known modules. Closed sleds are as the compiler made them. Calls that are open when
// sleds are closed do not end. 0 when some could not be changed.
int sleds_open_all(void);
int sleds_close_all(void);
// Of a process that waits to be recorded (`fathom arm`): sleds are open while it is.
void sleds_heed(void);
int sleds_wait(void);  // whether it waits, so that no call's end is told
// Closes all sleds, makes the code as it was before the first one was opened, and knows no module any more. 0 when the
// list of modules could not be had; then nothing was changed.
int sleds_forget_all(void);
// Closes the sleds at the beginnings of these functions, for good, and tells the session. Those at their ends stay, for
// the calls that are open. A thread may still be on its way to a hook by a sled that is closed now: where
// runtime.closes_functions is set, whoever records a beginning asks sled_is_open once the thread is busy. So threads
// that are seen not to be busy after this begin no such call any more: the thread writes `idle` before it reads the
// code, and this has made all processors take notice of the code before its caller reads `idle`.
int sleds_close_functions(const uintptr_t *functions, uint32_t count);
// Closes the sleds at the ends of these functions, for good. No thread has an open call of any. 0 as above.
int sleds_close_ends(const uintptr_t *functions, uint32_t count);

// An open sled: prefixes that mean nothing, and the call of its stub.
#define SLED_PREFIX 0x2e
#define SLED_CALL_PLACE 6u
#define SLED_CALL 0xe8

// Whether a sled that ends here is open. The code is what tells: threads may be executing it.
INTERNAL int sled_is_open(uintptr_t end) {
    const volatile uint8_t *sled = (const volatile uint8_t *)(end - SLED_SIZE);
    return sled[0] == SLED_PREFIX && sled[1] == SLED_PREFIX && sled[SLED_CALL_PLACE] == SLED_CALL;
}

// The module there is gone.
void sleds_forget(uintptr_t low, uintptr_t high);

#endif
