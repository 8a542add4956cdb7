// Changing the code of this process while its threads run it.

#ifndef FATHOM_PATCH_H
#define FATHOM_PATCH_H

#include "base.h"
#include "system.h"

#include <link.h>

// Pages that are being changed, and the rights that they had before.
#define PATCH_PARTS 8u
struct patch {
    uintptr_t low, high;
    uint32_t part_count;
    struct mapping parts[PATCH_PARTS];
};

// Makes the pages of [low, high) writable, and keeps them executable. 0, or -errno where the kernel or a policy forbids
// it. One thread at a time calls this.
long patch_begin(struct patch *patch, uintptr_t low, uintptr_t high);
// Gives them the rights back that they had.
void patch_end(const struct patch *patch);
// Between the two: all processors see what was written before when they execute the code from now on. 0 when that
// cannot be had; then the pages may not be writable any more.
int patch_spread(const struct patch *patch);

// Writes two bytes at an even address, which no processor sees half. Release: what lies behind them was written
// before. What processors execute of that is up to patch_spread.
INTERNAL void patch_head(uintptr_t address, uint16_t bytes) {
    __atomic_store_n((uint16_t *)address, bytes, __ATOMIC_RELEASE);
}
// What was written there is what processors fetch from now on, as far as their caches are apart for code and data.
#if defined(__aarch64__)
void patch_clean(uintptr_t low, uintptr_t high);
#else
INTERNAL void patch_clean(uintptr_t low, uintptr_t high) { (void)low, (void)high; }
#endif

// Changes words of a module that the dynamic linker has made read-only.

// The pages that it makes read-only when it has finished the module; none where *low is *high.
void relro_pages(const struct dl_phdr_info *module, uintptr_t *low, uintptr_t *high);
// The protection (PROT_*) that the page of `address` has in the module, as its program headers say; -1 when the module
// has no such page.
int relro_protection(const struct dl_phdr_info *module, uintptr_t address);
// Puts `words` where others lie, in a page whose protection is that. Returns 0 if the kernel refuses to make the page
// writable.
int relro_write(uintptr_t *place, const uintptr_t *words, size_t count, int protection);

#endif
