// glibc 2.34 took in what had been libraries of their own, libpthread and libdl, and gave those functions a new
// version. A library that is linked on a newer system asks for that version, and no program of an older system starts
// with it. So the runtime asks for the oldest version, which every glibc has, and weakly: an older system's program
// perhaps loads neither library, and needs none of this as long as it does not.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "CTraceRuntime.h"

FATHOM_WITHOUT_HOOKS

#ifdef __x86_64__
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

#define OLDEST(name)                                                                                                   \
    extern __typeof__(name) oldest_##name __attribute__((weak));                                                       \
    __asm__(".symver oldest_" #name ", " #name "@" FIRST_VERSION)
OLDEST(pthread_key_create);
OLDEST(pthread_setspecific);
OLDEST(dlsym);

// These three are hidden. The rest of the runtime is linked to them here, and to the C library's in a static program.

// A program without libpthread has one thread, which ends with it.
int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    return oldest_pthread_key_create ? oldest_pthread_key_create(key, destructor) : ENOSYS;
}

int pthread_setspecific(pthread_key_t key, const void *value) {
    return oldest_pthread_setspecific ? oldest_pthread_setspecific(key, value) : ENOSYS;
}

// ---- What dlsym(RTLD_NEXT, name) gives, for a program without libdl: the first definition in a module behind this one

struct search {
    const char *name;
    uint32_t hash;
    int is_behind;
    void *found;
};

// The tables of a module's symbols; see "Dynamic Linking" in the System V ABI, and for the hash table, which GNU added,
// https://flapenguin.me/elf-dt-gnu-hash.
struct symbols {
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Half) * versions;
    const uint32_t *hash;
};

// The loader has put addresses in place of most offsets, but not in a dynamic section that it cannot write to.
static const void *address(const struct dl_phdr_info *module, ElfW(Addr) value) {
    return (const void *)(value < module->dlpi_addr ? value + module->dlpi_addr : value);
}

static struct symbols symbols_of(const struct dl_phdr_info *module, const ElfW(Dyn) * entry) {
    struct symbols symbols = {0};
    for (; entry->d_tag != DT_NULL; entry++) {
        const void *table = address(module, entry->d_un.d_ptr);
        if (entry->d_tag == DT_SYMTAB) symbols.symbols = table;
        if (entry->d_tag == DT_STRTAB) symbols.names = table;
        if (entry->d_tag == DT_VERSYM) symbols.versions = table;
        if (entry->d_tag == DT_GNU_HASH) symbols.hash = table;
    }
    return symbols;
}

// The function's default version, or the only one.
static const ElfW(Sym) * find(const struct symbols *in, const struct search *search) {
    if (!in->symbols || !in->names || !in->hash) return NULL;
    uint32_t bucket_count = in->hash[0], first = in->hash[1], bloom_words = in->hash[2];
    const uint32_t *buckets = in->hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *hashes = buckets + bucket_count;
    uint32_t index = bucket_count ? buckets[search->hash % bucket_count] : 0;
    if (index < first) return NULL;
    for (;; index++) {
        uint32_t hash = hashes[index - first];
        const ElfW(Sym) *symbol = &in->symbols[index];
        int is_hidden = in->versions && in->versions[index] & 0x8000;
        if ((hash | 1) == (search->hash | 1) && symbol->st_shndx != SHN_UNDEF && !is_hidden &&
            strcmp(in->names + symbol->st_name, search->name) == 0)
            return symbol;
        if (hash & 1) return NULL;  // the last of its bucket
    }
}

static int search_module(struct dl_phdr_info *module, size_t size, void *argument) {
    (void)size;
    struct search *search = argument;
    const ElfW(Dyn) *dynamic = NULL;
    int is_this = 0;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        uintptr_t start = module->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)start;
        if (part->p_type == PT_LOAD && (uintptr_t)search_module - start < part->p_memsz) is_this = 1;
    }
    if (search->is_behind && dynamic) {
        struct symbols symbols = symbols_of(module, dynamic);
        const ElfW(Sym) *symbol = find(&symbols, search);
        if (symbol) search->found = (void *)(module->dlpi_addr + symbol->st_value);
        // Its value is not the function, but what chooses it.
        if (symbol && ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
            search->found = ((void *(*)(void))search->found)();
    }
    search->is_behind |= is_this;
    return search->found != NULL;
}

void *dlsym(void *handle, const char *name) {
    if (oldest_dlsym) return oldest_dlsym(handle, name);
    if (handle != RTLD_NEXT) return NULL;
    struct search search = {.name = name, .hash = 5381};
    for (const char *letter = name; *letter; letter++) search.hash = search.hash * 33 + (unsigned char)*letter;
    dl_iterate_phdr(search_module, &search);
    return search.found;
}

FATHOM_WITHOUT_HOOKS_END
