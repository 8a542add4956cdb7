// Which ELF modules are mapped.

#ifndef FATHOM_MODULES_H
#define FATHOM_MODULES_H

#include "../host/loader.h"

// Writes what has changed since the last time. 0 where the list of modules could not be had (host/loader.h), or the
// stack has too little room: then it remains to be looked at, which runtime.modules_stale says.
int modules_scan(uint64_t patience);
void modules_forget(void);  // so that the next scan writes all
// Takes the functions that the session's file of this number names in place of those that were named. 0 when there is
// no such file.
int modules_change_functions(uint32_t number);
// Whether each address lies in a module, as of the last scan. O(addresses × modules).
int modules_hold(const uintptr_t *addresses, uint32_t count);

#endif
