// Finds sleds: the note in each product of `fathom build --dormant`, and the table of the modules that have one.

#include "CTraceRuntimeHostSymbols.h"
#include "sled_module.h"

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

// The stubs of a product. Version 0.2.0 left room for six.
#define FIRST_STUB_COUNT 6u

// They stay where they are. `low` is 0 where a module is gone.
#define MODULE_LIMIT 512u
static struct sled_module modules_with_sleds[MODULE_LIMIT];
static uint32_t module_count;

// An owner of "FathomSleds", with its zero; then the description follows without padding.
#define OWNER "FathomSleds"
struct sleds_note {
    uint32_t name_size, size, type;
    char name[sizeof OWNER];
    char first[8], last[8], stubs[8];  // each relative to where it stands
    char stub_count[8];                // not in the note of version 0.2.0
};
_Static_assert(sizeof OWNER == 12 && sizeof(struct sleds_note) == 56, "it is read as it lies");
#define FIRST_NOTE_SIZE 24u
#define NOTE_SIZE 32u

static uintptr_t place(const char *field) {
    int64_t distance;
    __builtin_memcpy(&distance, field, sizeof distance);
    return (uintptr_t)field + (uintptr_t)distance;
}

// A segment of notes that are padded to 4 or 8 bytes.
static const struct sleds_note *find_note(uintptr_t notes, size_t size, size_t alignment) {
    size_t mask = (alignment == 8 ? 8 : 4) - 1;
    while (size >= 12) {
        const struct sleds_note *note = (const struct sleds_note *)notes;
        size_t name = (12 + (size_t)note->name_size + mask) & ~mask, all = (name + note->size + mask) & ~mask;
        if (all > size || all < 12) return NULL;
        if (note->name_size == sizeof OWNER && note->type == 1 &&
            (note->size == FIRST_NOTE_SIZE || note->size == NOTE_SIZE) &&
            __builtin_memcmp(note->name, OWNER, sizeof OWNER) == 0)
            return note;
        notes += all;
        size -= all;
    }
    return NULL;
}

// A place for the module whose sleds begin at `first`: its own if it is known, or any that is free.
static struct sled_module *module_of(const struct sled *first, uintptr_t low) {
    struct sled_module *free = NULL;
    for (uint32_t i = 0; i < module_count; i++) {
        struct sled_module *module = &modules_with_sleds[i];
        if (module->low == low && module->first == first) return module;
        if (!module->low && !free) free = module;
    }
    if (!free && module_count < MODULE_LIMIT) free = &modules_with_sleds[module_count++];
    return free;
}

struct sled_module *sled_module_known(uint32_t number) {
    return number < module_count ? &modules_with_sleds[number] : NULL;
}

void sled_modules_forget(void) {
    __builtin_memset(modules_with_sleds, 0, sizeof modules_with_sleds[0] * module_count);
    module_count = 0;
}

static void widen_span(struct sled_module *module, uintptr_t address, size_t size) {
    struct span *span = (struct span *)span_of(module, address, size);
    if (!span) return;
    if (!span->to || address < span->from) span->from = address;
    if (address + size > span->to) span->to = address + size;
}

// The parts of a module that sleds and stubs lie in. Large code models have several segments with code, and data
// between them.
static void find_spans(struct sled_module *module, const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum && module->span_count < SPAN_LIMIT; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && header->p_flags & PF_X)
            module->spans[module->span_count++] = (struct span){.low = start, .high = start + header->p_memsz};
    }
    widen_span(module, module->stubs, module->stub_count * SLED_STUB_SIZE);
    for (const struct sled *sled = module->first; sled < module->last; sled++)
        widen_span(module, address_of(sled), SLED_SIZE);
}

// The note of a module with sleds; NULL: it has none.
static const struct sleds_note *note_of(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_NOTE) continue;
        const struct sleds_note *note = find_note(info->dlpi_addr + header->p_vaddr, header->p_memsz, header->p_align);
        if (note) return note;
    }
    return NULL;
}

int sled_module_is(const struct dl_phdr_info *info) { return note_of(info) != NULL; }

struct sled_module *sled_module_at(const struct dl_phdr_info *info, int is_added) {
    uintptr_t low, high;
    const struct sleds_note *note = note_of(info);
    if (!note) return NULL;
    symbols_span(info, &low, &high);
    const struct sled *first = (const struct sled *)place(note->first), *last = (const struct sled *)place(note->last);
    struct sled_module *module = module_of(first, low);
    if (!module || (module->low != 0) == is_added) return NULL;
    if (is_added) {
        uint64_t stubs = FIRST_STUB_COUNT;
        if (note->size >= NOTE_SIZE) __builtin_memcpy(&stubs, note->stub_count, sizeof stubs);
        *module = (struct sled_module){low, high, first, last, .stubs = place(note->stubs)};
        module->stub_count = stubs < SLED_STUB_COUNT ? (uint32_t)stubs : SLED_STUB_COUNT;
        find_spans(module, info);
    }
    return module;
}

void sleds_forget(uintptr_t low, uintptr_t high) {
    uint64_t signals = lock_take(LOCK_SLEDS);
    for (uint32_t i = 0; i < module_count; i++)
        if (modules_with_sleds[i].low >= low && modules_with_sleds[i].low < high) modules_with_sleds[i].low = 0;
    lock_give(LOCK_SLEDS, signals);
}

FATHOM_WITHOUT_HOOKS_END

#else

struct sled_module *sled_module_known(uint32_t number) {
    return (void)number, NULL;
}

#endif
