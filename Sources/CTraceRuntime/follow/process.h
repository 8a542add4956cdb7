// Starting, forking, ending.

#ifndef FATHOM_PROCESS_H
#define FATHOM_PROCESS_H

#include "../host/base.h"

// Maps the buffers, so that the process can record from its first hook on. `environment` is the process's, or NULL when
// it is not known yet.
void runtime_open(char **environment);
void runtime_watch_forks(void);
int runtime_ready(void);  // makes it so when it can; whether there is something to record into
// Whether the process records, and is not vfork's child running on the parent's memory.
int runtime_records(void);

#endif
