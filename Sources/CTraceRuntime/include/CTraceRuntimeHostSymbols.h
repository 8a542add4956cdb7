// The symbols of a loaded module, as its own tables have them. Reading them takes no lock, allocates nothing, and calls
// no function but the one that chooses a function (IFUNC). It works before this library is relocated.

#ifndef CTRACERUNTIMEHOSTSYMBOLS_H
#define CTRACERUNTIMEHOSTSYMBOLS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define FATHOM_HIDDEN __attribute__((visibility("hidden")))

// The tables of a module; see "Dynamic Linking" in the System V ABI, and for the hash table that GNU added,
// https://flapenguin.me/elf-dt-gnu-hash.
struct symbols {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Half) * versions;
    const ElfW(Verneed) * needed_versions;
    const ElfW(Verdef) * defined_versions;
    const uint32_t *gnu_hash, *hash;
    const ElfW(Rela) * relocations[2];
    size_t relocation_count[2];
    const char *own_name;  // DT_SONAME; NULL: it has none
    int stays;             // it is never unloaded
    int is_symbolic;       // its own definitions come first for it
};

// The addresses from a module's first segment to its last.
FATHOM_HIDDEN void symbols_span(const struct dl_phdr_info *module, uintptr_t *low, uintptr_t *high);
// The module's dynamic section. NULL: it has none.
FATHOM_HIDDEN const ElfW(Dyn) * symbols_dynamic(uintptr_t bias, const ElfW(Phdr) * headers, size_t count);
FATHOM_HIDDEN struct symbols symbols_of(uintptr_t bias, const ElfW(Dyn) * dynamic);
// What the module defines by that name, in the name's default version or its only one. NULL: nothing.
FATHOM_HIDDEN void *symbols_find(const struct symbols *in, const char *name);
// The same for what another module refers to by its symbol `index`: the version has to be the one that this asks for.
// Returns the symbol, or NULL. *is_default says whether a reference without a version finds the same.
FATHOM_HIDDEN const ElfW(Sym) *
    symbols_definition(const struct symbols *in, const struct symbols *from, uint32_t index, int *is_default);
// The version of a reference, as its module names it. NULL: it has none.
FATHOM_HIDDEN const char *symbols_version(const struct symbols *from, uint32_t index);
// Whether a symbol that the module defines has a version.
FATHOM_HIDDEN int symbols_has_version(const struct symbols *in, const ElfW(Sym) * symbol);
// What the module calls by that name, as far as the loader has found it out. NULL: that is not known.
FATHOM_HIDDEN void *symbols_bound(const struct symbols *in, const char *name);
// Whether the module needs another one by that name (DT_NEEDED).
FATHOM_HIDDEN int symbols_need(const struct symbols *in, const ElfW(Dyn) * dynamic, const char *name);

#endif
