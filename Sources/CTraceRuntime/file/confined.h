// Programs that forbid themselves what the runtime needs.

#ifndef FATHOM_CONFINED_H
#define FATHOM_CONFINED_H

#include "../host/base.h"

uint32_t confine_mode(void);
// Whether the program has confined itself by a system call that no note reported; if so, ends the recording. Ask this
// before other system calls. A filter that ends the program for prctl as well cannot be survived.
int confine_unnoted(void);
void confine_end(uint64_t now);  // ends the recording, without a system call

#endif
