// Changes words of a module that the dynamic linker has made read-only.

#ifndef FATHOM_RELRO_H
#define FATHOM_RELRO_H

#include "base.h"

#include <link.h>

// The protection (PROT_*) that the page of `address` has in the module, as its program headers say; -1 when the module
// has no such page.
int relro_protection(const struct dl_phdr_info *module, uintptr_t address);
// Puts `words` where others lie, in a page whose protection is that. Returns 0 if the kernel refuses to make the page
// writable.
int relro_write(uintptr_t *place, const uintptr_t *words, size_t count, int protection);

#endif
