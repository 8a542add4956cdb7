// Which ELF modules are mapped.

#ifndef FATHOM_MODULES_H
#define FATHOM_MODULES_H

#include "../host/base.h"

void modules_scan(void);    // writes what has changed since the last time
void modules_forget(void);  // so that the next scan writes all
// Takes the functions that the session's file of this number names in place of those that were named. 0 when there is
// no such file.
int modules_change_functions(uint32_t number);
// Whether each address lies in a module, as of the last scan. O(addresses × modules).
int modules_hold(const uintptr_t *addresses, uint32_t count);

#endif
