// Places in a product's code that `fathom build --dormant` has left for hooks: closed, they do nothing; open, they are
// hooks. A product may be open while its threads run.

#ifndef FATHOM_SLEDS_H
#define FATHOM_SLEDS_H

#include "../host/base.h"

// What the sleds' stubs go on with (entry/sleds.c), in this order. The first ones are for functions whose sled lies so
// many bytes behind the function's beginning: behind an instruction that guards jumps, and behind one to align it.
#define SLED_STUBS(ROW) ROW(enter_0) ROW(enter_1) ROW(enter_4) ROW(enter_5) ROW(leave) ROW(tail)
enum {
#define SLED_STUB_NUMBER(name) SLED_##name,
    SLED_STUBS(SLED_STUB_NUMBER)
#undef SLED_STUB_NUMBER
        SLED_STUB_COUNT
};
extern const uintptr_t *sled_targets;  // set before anything else here is called; NULL: sleds stay closed

int sleds_look(void);  // whether a module that is loaded now has sleds
// Finds the modules with sleds that are loaded now, opens what options ask for of those that were not known, and tells
// the session. Any thread may call it that is not in a hook's fast path.
void sleds_scan(void);
// Opens and closes the sleds of all known modules. Closed sleds are as the compiler made them. Calls that are open when
// sleds are closed do not end. 0 when some could not be changed.
int sleds_open_all(void);
int sleds_close_all(void);
// Closes the sleds at the beginnings of these functions, for good, and tells the session. Those at their ends stay, for
// the calls that are open.
void sleds_close_functions(const uintptr_t *functions, uint32_t count);
// The module there is gone.
void sleds_forget(uintptr_t low, uintptr_t high);

#endif
