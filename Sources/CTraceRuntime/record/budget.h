// What calls by sleds may cost.

#ifndef FATHOM_BUDGET_H
#define FATHOM_BUDGET_H

#include "../host/base.h"

// A thread's chunk is full of records of calls. Where recording them took more of the thread's processor time than is
// asked for, the sleds are closed of the functions that were called most. `processor_ns` is that time until now.
void budget_look(const struct fathom_chunk *chunk, uint64_t processor_ns);

#endif
