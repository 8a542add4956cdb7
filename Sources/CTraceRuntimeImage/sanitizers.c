// What programs with a sanitizer need, because this library comes before the sanitizer's.
//
// The shared library of the address sanitizer ends a program in which another library comes before it, unless an option
// says that this is meant. Its functions still come before the C library's, which is what that check is for: ours that
// stand before them go on to them. The sanitizer asks a function of the program for options, before it reads
// ASAN_OPTIONS (https://github.com/google/sanitizers/wiki/AddressSanitizerFlags). So the environment stays as it is,
// whoever starts the program.

#define _GNU_SOURCE
#include <link.h>

#include "behind.h"

FATHOM_WITHOUT_HOOKS

#define NAME "__asan_default_options"
#define OPTION "verify_asan_link_order=0"
#define ROOM 8192u  // bytes of options

typedef const char *options_function(void);

// The C library's functions of texts are the sanitizer's here, and begin it, or need what it has not set up yet.
static int begins(const char *text, const char *start) {
    while (*start && *text == *start) text++, start++;
    return !*start;
}

static size_t size_of(const char *text) {
    size_t size = 0;
    while (size < ROOM && text[size]) size++;
    return size;
}

// The program's own function, where it has one; then no other is asked. Written by the constructor only.
static options_function *programs;

// Returns our option and those of `others`, which may be NULL. The sanitizer asks once, when it begins, and keeps the
// text.
static const char *with_ours(options_function *others) {
    static char text[ROOM] = OPTION;
    const char *theirs = others ? others() : NULL;
    size_t size = theirs ? size_of(theirs) : 0;
    if (!size) return text;
    if (size > ROOM - sizeof OPTION - 1) return theirs;
    text[sizeof OPTION - 1] = ':';
    for (size_t i = 0; i <= size; i++) text[sizeof OPTION + i] = theirs[i];
    return text;
}

static const char *options(void) { return with_ours((options_function *)fathom_first_definition(NAME, 1)); }

__attribute__((visibility("default"), alias("options"))) options_function __asan_default_options;

static const char *in_place_of_programs(void) { return with_ours(programs); }

// A table of the dynamic section. The loader has put addresses in place of offsets.
static const void *table(const ElfW(Dyn) * entry, ElfW(Sxword) tag) {
    for (; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag) return (const void *)entry->d_un.d_ptr;
    return NULL;
}

static int is_sanitizer(const char *path) {
    const char *name = path;
    for (const char *letter = path; letter && *letter; letter++)
        if (*letter == '/') name = letter + 1;
    return name && (begins(name, "libasan.so") || begins(name, "libclang_rt.asan"));
}

// In the sanitizer's library, the slot through which it calls the program's function calls ours.
static int point_slot(struct dl_phdr_info *module, size_t size, void *argument) {
    (void)size, (void)argument;
    if (!is_sanitizer(module->dlpi_name)) return 0;
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < module->dlpi_phnum; i++)
        if (module->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr);
    if (!dynamic) return 0;
    const ElfW(Rela) *entry = table(dynamic, DT_JMPREL);
    const ElfW(Sym) *symbols = table(dynamic, DT_SYMTAB);
    const char *names = table(dynamic, DT_STRTAB);
    size_t count = (size_t)table(dynamic, DT_PLTRELSZ) / sizeof *entry;
    if (!entry || !symbols || !names) return 0;
    for (; count > 0; count--, entry++) {
        if (!begins(names + symbols[ELF64_R_SYM(entry->r_info)].st_name, NAME)) continue;
        uintptr_t *slot = (uintptr_t *)(module->dlpi_addr + entry->r_offset);
        fathom_write_word(module, slot, (uintptr_t)in_place_of_programs);
    }
    return 0;
}

// Comes before the sanitizer begins: this library is the first to be initialised.
__attribute__((constructor(102))) static void take_place(void) {
    programs = (options_function *)fathom_first_definition(NAME, 0);
    if (programs && programs != options) fathom_all_modules(point_slot, NULL);
}

FATHOM_WITHOUT_HOOKS_END
