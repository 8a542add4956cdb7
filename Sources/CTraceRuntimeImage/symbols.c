#include "symbols.h"

#include "CTraceRuntime.h"

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
        case DT_GNU_HASH: in.gnu_hash = table; break;
        case DT_HASH: in.hash = table; break;
        case DT_JMPREL: in.relocations[0] = table; break;
        case DT_RELA: in.relocations[1] = table; break;
        case DT_PLTRELSZ: in.relocation_count[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELASZ: in.relocation_count[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_SONAME: own_name = entry->d_un.d_val; break;
        case DT_FLAGS_1: in.stays = (entry->d_un.d_val & DF_1_NODELETE) != 0; break;
        default: break;
        }
    }
    if (in.names && own_name) in.own_name = in.names + own_name;
    return in;
}

// Whether a symbol is a definition by that name. The default version is preferred: `*other` is the first one of another
// version.
static int is_it(const struct symbols *in, uint32_t index, const char *name, uint32_t *other) {
    const ElfW(Sym) *symbol = &in->symbols[index];
    if (symbol->st_shndx == SHN_UNDEF || !is_same(in->names + symbol->st_name, name)) return 0;
    if (!in->versions || !(in->versions[index] & WITHOUT_VERSION)) return 1;
    if (!*other) *other = index;
    return 0;
}

// The index of the symbol in the table of symbols; 0: there is none.
static uint32_t find_by_gnu_hash(const struct symbols *in, const char *name) {
    uint32_t hash = 5381, other = 0;
    for (const char *letter = name; *letter; letter++) hash = hash * 33 + (unsigned char)*letter;
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
        if ((found | 1) == (hash | 1) && is_it(in, index, name, &other)) return index;
        if (found & 1) return other;  // the last of its bucket
    }
}

static uint32_t find_by_hash(const struct symbols *in, const char *name) {
    uint32_t hash = 0, other = 0, bucket_count = in->hash[0];
    for (const char *letter = name; *letter; letter++) {
        hash = (hash << 4) + (unsigned char)*letter;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    const uint32_t *buckets = in->hash + 2, *next = buckets + bucket_count;
    for (uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0; index; index = next[index])
        if (is_it(in, index, name, &other)) return index;
    return other;
}

void *symbols_find(const struct symbols *in, const char *name) {
    if (!in->symbols || !in->names || (!in->gnu_hash && !in->hash)) return NULL;
    uint32_t index = in->gnu_hash ? find_by_gnu_hash(in, name) : find_by_hash(in, name);
    if (!index) return NULL;
    const ElfW(Sym) *symbol = &in->symbols[index];
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
