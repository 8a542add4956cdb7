// What programs call by fathom.h.

#ifndef FATHOM_CONTROL_H
#define FATHOM_CONTROL_H

#include "../host/base.h"

void control_set_mode(void);  // to that of a process that can record; the caller holds the lock, or is alone

#endif
