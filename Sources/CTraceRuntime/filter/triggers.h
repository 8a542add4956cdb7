// What happens because a call of a function begins.

#ifndef FATHOM_TRIGGERS_H
#define FATHOM_TRIGGERS_H

#include "../follow/event.h"

// Starts or stops recording if that is what the function says whose call begins. `event` may be NULL.
void triggers_pull(const struct event *event);
// What else a function does when a call of it begins, FATHOM_TRIGGER_*.
uint32_t triggers_of(uintptr_t function);

#endif
