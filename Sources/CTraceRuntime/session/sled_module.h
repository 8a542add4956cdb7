// A module with sleds: where they lie (sled_modules.c), and how they are written (sled_code.c).

#ifndef FATHOM_SLED_MODULE_H
#define FATHOM_SLED_MODULE_H

#include "../host/loader.h"
#include "../host/patch.h"
#include "../host/runtime.h"
#include "sleds.h"

#include <link.h>

FATHOM_WITHOUT_HOOKS

// A segment with code, and the part of it that sleds and stubs lie in. That is what may be written; `to` is 0 if there
// is none.
struct span {
    uintptr_t low, high, from, to;
    struct patch patch;
};
#define SPAN_LIMIT 4u

struct sled_module {
    uintptr_t low, high;              // of the module
    const struct sled *first, *last;  // the latter is one behind
    uintptr_t stubs;
    uint32_t stub_count, span_count;
    struct span spans[SPAN_LIMIT];
    struct fathom_sleds_item told;
    uint32_t is_told;
    uint32_t is_open;      // as far as options ask for
    uint32_t is_prepared;  // its stubs are written; so they were before:
    uint8_t stubs_before[SLED_STUB_COUNT * SLED_STUB_SIZE];
};

// The segment that so many bytes lie in. NULL: none.
INTERNAL const struct span *span_of(const struct sled_module *module, uintptr_t address, size_t size) {
    for (const struct span *span = module->spans; span < module->spans + module->span_count; span++)
        if (address >= span->low && address < span->high && size <= span->high - address) return span;
    return NULL;
}

// ---- where they lie. All under LOCK_SLEDS, while the loader's list of modules is gone through.

// Whether the module that the loader tells of has sleds. Needs no lock.
int sled_module_is(const struct dl_phdr_info *info);
// The module that the loader tells of. NULL: it has no sleds, or there is no place for it. A new one is added with
// `is_added`, and otherwise not found.
struct sled_module *sled_module_at(const struct dl_phdr_info *info, int is_added);
// All known ones, by number; `low` is 0 where a module is gone. NULL: there are no more. They stay where they are.
struct sled_module *sled_module_known(uint32_t number);
void sled_modules_forget(void);

// ---- how they are written. Under LOCK_SLEDS, while the module cannot be unloaded. Errors are negative.

// How a sled is changed.
enum { MARK_NONE, MARK, MARK_AGAIN };  // MARK_AGAIN: its function may come by it more than once in a call

// Whether a sled is a closed one, as compilers make it, or an open one.
int sled_closed(const struct sled *sled);
int sled_open(const struct sled *sled);
// Whether the sleds of a function are such that they can be opened, with such a mark.
int sleds_can_be_opened(const struct sled_module *module, const struct sled *first, const struct sled *last,
                        uint8_t mark);
// Open and close the sleds that are marked, a byte each.
long sleds_open_marked(struct sled_module *module, const uint8_t *marked);
long sleds_close_marked(struct sled_module *module, const uint8_t *marked);
// Makes the stubs what they were before the first sled was opened. No sled leads to them.
void sled_stubs_restore(struct sled_module *module);

FATHOM_WITHOUT_HOOKS_END

#endif
