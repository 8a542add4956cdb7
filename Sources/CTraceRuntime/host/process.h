// Starting, forking, ending.

#ifndef FATHOM_PROCESS_H
#define FATHOM_PROCESS_H

#include "base.h"

int runtime_ready(void);  // makes it so when it can; whether there is something to record into
// Whether the process records, and is not vfork's child running on the parent's memory.
int runtime_records(void);

#endif
