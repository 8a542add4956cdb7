// The instructions of x86-64 and aarch64: decoded, and moved.

#ifndef FATHOM_INSTRUCTIONS_H
#define FATHOM_INSTRUCTIONS_H

#include "CDecoder.h"
#include "CDetours.h"
#include "CDetoursARM.h"

#endif
