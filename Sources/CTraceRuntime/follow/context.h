// A coroutine's saved registers.

#ifndef FATHOM_CONTEXT_H
#define FATHOM_CONTEXT_H

#include "../host/base.h"

#include <ucontext.h>

#if defined(__x86_64__)
#define CONTEXT_SP(context) (&(context)->uc_mcontext.gregs[REG_RSP])
#else
#define CONTEXT_SP(context) (&(context)->uc_mcontext.sp)
#endif

#endif
