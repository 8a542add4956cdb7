// What open sleds lead to, told to whoever opens them.

#ifndef FATHOM_SLED_HOOKS_H
#define FATHOM_SLED_HOOKS_H

#include "../host/base.h"

// Makes it known (file/sleds.h), before any sled is opened.
void sleds_begin(void);

#endif
