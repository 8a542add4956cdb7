// Programs that forbid themselves what the runtime needs.

#ifndef FATHOM_CONFINE_H
#define FATHOM_CONFINE_H

#include "base.h"

uint32_t confine_mode(void);
// Whether the program has confined itself by a system call that nobody noted; ends the recording if so. To be asked
// before other system calls. Filters that end a program for prctl as well cannot be survived.
int confine_unnoted(void);

#endif
