// What a new program image needs to be recorded.

#ifndef FATHOM_ENVIRONMENT_H
#define FATHOM_ENVIRONMENT_H

#include "base.h"

void environment_keep(char **environment);  // as the process was started with it

#endif
