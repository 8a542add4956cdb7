#include "CTraceRuntimeHostSymbols.h"

#include "CTraceRuntimeHost.h"

FATHOM_WITHOUT_HOOKS

#define WITHOUT_VERSION 0x8000u  // of a version that is not the default one

// The loader has put addresses in place of most offsets, but not in a dynamic section that it cannot write to.
static const void *address(uintptr_t bias, ElfW(Addr) value) {
    return (const void *)(value < bias ? value + bias : value);
}

// The C library's strcmp cannot be called before this library is relocated.
static int is_same(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

void symbols_span(const struct dl_phdr_info *module, uintptr_t *low, uintptr_t *high) {
    *low = UINTPTR_MAX, *high = 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD) continue;
        if (start < *low) *low = start;
        if (start + header->p_memsz > *high) *high = start + header->p_memsz;
    }
}

const ElfW(Dyn) * symbols_dynamic(uintptr_t bias, const ElfW(Phdr) * header, size_t count) {
    for (; count--; header++)
        if (header->p_type == PT_DYNAMIC) return (const ElfW(Dyn) *)(bias + header->p_vaddr);
    return NULL;
}

struct symbols symbols_of(uintptr_t bias, const ElfW(Dyn) * entry) {
    struct symbols in = {.bias = bias};
    size_t own_name = 0;
    for (; entry && entry->d_tag != DT_NULL; entry++) {
        const void *table = address(bias, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB: in.symbols = table; break;
        case DT_STRTAB: in.names = table; break;
        case DT_VERSYM: in.versions = table; break;
        case DT_VERNEED: in.needed_versions = table; break;
        case DT_VERDEF: in.defined_versions = table; break;
        case DT_GNU_HASH: in.gnu_hash = table; break;
        case DT_HASH: in.hash = table; break;
        case DT_JMPREL: in.relocations[0] = table; break;
        case DT_RELA: in.relocations[1] = table; break;
        case DT_PLTRELSZ: in.relocation_count[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELASZ: in.relocation_count[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_SONAME: own_name = entry->d_un.d_val; break;
        case DT_SYMBOLIC: in.is_symbolic = 1; break;
        case DT_FLAGS: in.is_symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0; break;
        case DT_FLAGS_1: in.stays = (entry->d_un.d_val & DF_1_NODELETE) != 0; break;
        default: break;
        }
    }
    if (in.names && own_name) in.own_name = in.names + own_name;
    return in;
}

// The name of the version with this number that the module needs of others, or defines itself. NULL: there is none.
static const char *needed_version(const struct symbols *in, uint32_t number) {
    const ElfW(Verneed) *file = in->needed_versions;
    for (; file; file = file->vn_next ? (const void *)((const char *)file + file->vn_next) : NULL) {
        const ElfW(Vernaux) *version = (const void *)((const char *)file + file->vn_aux);
        for (uint32_t i = 0; i < file->vn_cnt; i++) {
            if ((version->vna_other & ~WITHOUT_VERSION) == number) return in->names + version->vna_name;
            version = (const void *)((const char *)version + version->vna_next);
        }
    }
    return NULL;
}

static const char *defined_version(const struct symbols *in, uint32_t number) {
    const ElfW(Verdef) *version = in->defined_versions;
    for (; version; version = version->vd_next ? (const void *)((const char *)version + version->vd_next) : NULL)
        if (version->vd_ndx == number && !(version->vd_flags & VER_FLG_BASE))
            return in->names + ((const ElfW(Verdaux) *)((const char *)version + version->vd_aux))->vda_name;
    return NULL;
}

int symbols_has_version(const struct symbols *in, const ElfW(Sym) * symbol) {
    return in->versions && (in->versions[symbol - in->symbols] & ~WITHOUT_VERSION) > VER_NDX_GLOBAL;
}

const char *symbols_version(const struct symbols *from, uint32_t index) {
    uint32_t number = from->versions ? from->versions[index] & ~WITHOUT_VERSION : VER_NDX_GLOBAL;
    return number > VER_NDX_GLOBAL ? needed_version(from, number) : NULL;
}

// What is looked for. Without a version, the default one is preferred: `other` is the first one that is not.
struct wanted {
    const char *name, *version;
    uint32_t other;
};

// Whether a symbol is a definition of that.
static int is_it(const struct symbols *in, uint32_t index, struct wanted *wanted) {
    const ElfW(Sym) *symbol = &in->symbols[index];
    if (symbol->st_shndx == SHN_UNDEF || !is_same(in->names + symbol->st_name, wanted->name)) return 0;
    if (!in->versions) return 1;
    if (wanted->version) {
        const char *version = defined_version(in, in->versions[index] & ~WITHOUT_VERSION);
        return version ? is_same(version, wanted->version) : !(in->versions[index] & WITHOUT_VERSION);
    }
    if (!(in->versions[index] & WITHOUT_VERSION)) return 1;
    if (!wanted->other) wanted->other = index;
    return 0;
}

// The index of the symbol in the table of symbols; 0: there is none.
static uint32_t find_by_gnu_hash(const struct symbols *in, struct wanted *wanted) {
    uint32_t hash = 5381;
    for (const char *letter = wanted->name; *letter; letter++) hash = hash * 33 + (unsigned char)*letter;
    uint32_t bucket_count = in->gnu_hash[0], first = in->gnu_hash[1], words = in->gnu_hash[2], shift = in->gnu_hash[3];
    const ElfW(Addr) *filter = (const ElfW(Addr) *)(in->gnu_hash + 4);
    const uint32_t bits = 8 * sizeof *filter, *buckets = (const uint32_t *)(filter + words);
    const uint32_t *hashes = buckets + bucket_count;
    ElfW(Addr) word = words ? filter[hash / bits % words] : 0;
    if (!bucket_count || !(word >> hash % bits & word >> (hash >> shift) % bits & 1)) return 0;
    uint32_t index = buckets[hash % bucket_count];
    if (index < first) return 0;
    for (;; index++) {
        uint32_t found = hashes[index - first];
        if ((found | 1) == (hash | 1) && is_it(in, index, wanted)) return index;
        if (found & 1) return wanted->other;  // the last of its bucket
    }
}

static uint32_t find_by_hash(const struct symbols *in, struct wanted *wanted) {
    uint32_t hash = 0, bucket_count = in->hash[0];
    for (const char *letter = wanted->name; *letter; letter++) {
        hash = (hash << 4) + (unsigned char)*letter;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    const uint32_t *buckets = in->hash + 2, *next = buckets + bucket_count;
    for (uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0; index; index = next[index])
        if (is_it(in, index, wanted)) return index;
    return wanted->other;
}

static const ElfW(Sym) * find(const struct symbols *in, struct wanted wanted) {
    if (!in->symbols || !in->names || (!in->gnu_hash && !in->hash)) return NULL;
    uint32_t index = in->gnu_hash ? find_by_gnu_hash(in, &wanted) : find_by_hash(in, &wanted);
    return index ? &in->symbols[index] : NULL;
}

const ElfW(Sym) *
    symbols_definition(const struct symbols *in, const struct symbols *from, uint32_t index, int *is_default) {
    const char *name = from->names + from->symbols[index].st_name;
    const ElfW(Sym) *found = find(in, (struct wanted){name, symbols_version(from, index), 0});
    *is_default = found && found == find(in, (struct wanted){name, NULL, 0});
    return found;
}

void *symbols_find(const struct symbols *in, const char *name) {
    const ElfW(Sym) *symbol = find(in, (struct wanted){name, NULL, 0});
    if (!symbol) return NULL;
    void *value = (void *)(symbol->st_shndx == SHN_ABS ? symbol->st_value : in->bias + symbol->st_value);
    // Its value is not the function, but what chooses it.
    return ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC ? ((void *(*)(void))value)() : value;
}

void *symbols_bound(const struct symbols *in, const char *name) {
    for (int table = 0; in->symbols && in->names && table < 2; table++) {
        const ElfW(Rela) *relocation = in->relocations[table];
        for (size_t i = 0; relocation && i < in->relocation_count[table]; i++, relocation++) {
            const ElfW(Sym) *symbol = &in->symbols[ELF64_R_SYM(relocation->r_info)];
            if (ELF64_R_SYM(relocation->r_info) && is_same(in->names + symbol->st_name, name))
                // Relaxed: whoever calls this has called the function through this word.
                return __atomic_load_n((void **)(in->bias + relocation->r_offset), __ATOMIC_RELAXED);
        }
    }
    return NULL;
}

int symbols_need(const struct symbols *in, const ElfW(Dyn) * entry, const char *name) {
    for (; in->names && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && is_same(in->names + entry->d_un.d_val, name)) return 1;
    return 0;
}

FATHOM_WITHOUT_HOOKS_END
