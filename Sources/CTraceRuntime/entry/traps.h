// The traps of first calls.

#ifndef FATHOM_TRAPS_H
#define FATHOM_TRAPS_H

// Takes all traps away, for good: what is called first from here on is not recorded. Makes system calls.
void traps_give_up(void);

#endif
