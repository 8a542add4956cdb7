#define _GNU_SOURCE
#include "behind.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>

#include "CTraceRuntimeHostSymbols.h"

FATHOM_WITHOUT_HOOKS

void *fathom_behind[BEHIND_COUNT];

// All names, one after the other: before this library is relocated, there are no pointers to them.
#define TEXT(name) #name "\0"
static const char names[] = ALL_BEHIND(TEXT);

static const char *next_name(const char *name) {
    while (*name) {
        name++;
        __asm__("" : "+r"(name));  // or the compiler calls strlen
    }
    return name + 1;
}

static const char *name_of(uint32_t number) {
    const char *name = names;
    while (number--) name = next_name(name);
    return name;
}

// ---- the modules there are

// This library's own.
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") HIDDEN;

// Where the loader's list of modules begins: a program's dynamic section tells it and, where that does not, the loader
// has it by a name.
static const struct link_map *list_of(uintptr_t bias, const ElfW(Dyn) * dynamic) {
    const struct r_debug *debug = NULL;
    for (const ElfW(Dyn) *entry = dynamic; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_DEBUG) debug = (const struct r_debug *)entry->d_un.d_ptr;
    struct symbols in = symbols_of(bias, dynamic);
    if (!debug) debug = symbols_find(&in, "_r_debug");
    return debug ? debug->r_map : NULL;
}

// No other thread changes the list while this library is loaded: the loader's lock is held, or there is no other
// thread.
static const struct link_map *first_module(void) {
    const ElfW(Phdr) *header = (const ElfW(Phdr) *)fathom_auxiliary(AT_PHDR);
    size_t count = fathom_auxiliary(AT_PHNUM);
    uintptr_t bias = 0, loader = fathom_auxiliary(AT_BASE);
    for (size_t i = 0; header && i < count; i++)
        if (header[i].p_type == PT_PHDR) bias = (uintptr_t)header - header[i].p_vaddr;
    const struct link_map *first = header ? list_of(bias, symbols_dynamic(bias, header, count)) : NULL;
    if (first || !loader) return first;
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)loader;
    return list_of(loader, symbols_dynamic(loader, (const ElfW(Phdr) *)(loader + elf->e_phoff), elf->e_phnum));
}

// ---- at load

static uint32_t is_filled, is_filling;

static void fill_from(const struct symbols *in) {
    const char *name = names;
    for (uint32_t number = 0; number < BEHIND_COUNT; number++, name = next_name(name)) {
        if (fathom_behind[number]) continue;
        void *found = symbols_find(in, name);
        if (found) __atomic_store_n(&fathom_behind[number], found, __ATOMIC_RELAXED);
    }
}

static const struct link_map *behind_this(const struct link_map *module) {
    while (module && module->l_ld != own_dynamic) module = module->l_next;
    return module ? module->l_next : NULL;
}

__attribute__((constructor(101))) static void fill(void) {
    if (is_filled || is_filling) return;
    is_filling = 1;
    const struct link_map *first = first_module();
    for (const struct link_map *module = behind_this(first); module; module = module->l_next) {
        struct symbols in = symbols_of(module->l_addr, module->l_ld);
        fill_from(&in);
    }
    fathom_image.is_alone = fathom_first_definition("__libc_single_threaded", 0);
    struct symbols own = symbols_of(0, own_dynamic);
    for (const struct link_map *module = first; module; module = module->l_next) {
        struct symbols in = symbols_of(module->l_addr, module->l_ld);
        if (in.own_name && symbols_need(&own, own_dynamic, in.own_name)) fill_from(&in);
    }
    is_filled = 1;
    is_filling = 0;
}

// ---- later

struct search {
    const char *name;
    int is_behind;
    void *found;
    int stays;
};

static int search_module(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct search *search = argument;
    const ElfW(Dyn) *dynamic = symbols_dynamic(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    if (search->is_behind && dynamic) {
        struct symbols in = symbols_of(info->dlpi_addr, dynamic);
        search->found = symbols_find(&in, search->name);
        search->stays = in.stays;
    }
    search->is_behind |= dynamic == own_dynamic;
    return search->found != NULL;
}

typedef int iterate(int (*)(struct dl_phdr_info *, size_t, void *), void *);

static struct search search_list(const char *name) {
    struct search search = {.name = name};
    iterate *all = (iterate *)fathom_behind[BEHIND_dl_iterate_phdr];
    if (all) all(search_module, &search);
    return search;
}

void *fathom_first_definition(const char *name, int is_behind) {
    const struct link_map *module = first_module();
    if (is_behind) module = behind_this(module);
    for (void *found; module; module = module->l_next) {
        struct symbols in = symbols_of(module->l_addr, module->l_ld);
        if ((found = symbols_find(&in, name))) return found;
    }
    return NULL;
}

static void *look_later(uint32_t number) {
    // What chooses a function calls one of ours: it gets this one alone.
    if (is_filling) return fathom_first_definition(name_of(number), 1);
    struct search search = search_list(name_of(number));
    if (search.found && search.stays) __atomic_store_n(&fathom_behind[number], search.found, __ATOMIC_RELAXED);
    return search.found;
}

static long lacks_function(void) { return ENOSYS; }
static long lacks_call(void) {
    errno = ENOSYS;
    return -1;
}

void *fathom_look_behind(uint32_t number) {
    fill();
    void *found = fathom_behind[number];
    if (!found) found = look_later(number);
    if (found) return found;
    // Functions of threads return what is wrong; the others return -1 and leave it in errno.
    const char *name = name_of(number);
    int is_of_threads = name[0] == 'p' && name[1] == 't' && name[2] == 'h';
    return is_of_threads ? (void *)lacks_function : (void *)lacks_call;
}

int fathom_has_behind(uint32_t number) {
    fill();
    return fathom_behind[number] || look_later(number);
}

// ---- the unwinder

static struct symbols symbols_at(find_object *find, void *address) {
    struct object object;
    if (!address || find(address, &object) != 0) return (struct symbols){0};
    return symbols_of(object.module->l_addr, object.module->l_ld);
}

void *fathom_unwinder_behind(uint32_t number, const void *caller) {
    void *found = fathom_behind[number];
    if (found) return found;
    const char *name = name_of(number);
    find_object *find = (find_object *)fathom_behind[BEHIND__dl_find_object];
    if (find) {
        struct symbols in = symbols_at(find, (void *)caller);
        found = symbols_find(&in, name);
        if (found) return found;
        // A personality routine says what is in the registers before it says where to go on.
        in = symbols_at(find, fathom_stub_target(symbols_bound(&in, "_Unwind_SetGR")));
        found = symbols_find(&in, name);
    }
    return found ? found : search_list(name).found;
}

FATHOM_WITHOUT_HOOKS_END
