// Which ELF modules are mapped where, over time. The list is compared with what was known before every unloading, after
// every loading and at the end. Addresses cannot be reused between two unloadings, so that is all that is needed to
// resolve any address by when it was seen.

#include "runtime.h"

#include <fcntl.h>
#include <link.h>

FATHOM_WITHOUT_HOOKS

struct module {
    uintptr_t bias, low, high;
    const char *name;  // the dynamic linker's, while it is mapped
    const void *build_id;
    uint32_t build_id_size;
    uint32_t seen;
};

// Modules in a mapping of their own, grown by doubling.
struct modules {
    struct module *list;
    size_t count, room;
    uint64_t version;  // dlpi_adds + dlpi_subs
};

static struct modules known;

static int add(struct modules *modules, struct module module) {
    if (modules->count == modules->room) {
        size_t room = modules->room ? modules->room * 2 : 64;
        struct module *list = system_allocate(room * sizeof *list);
        if (!list) return 0;
        if (modules->list) {
            __builtin_memcpy(list, modules->list, modules->count * sizeof *list);
            system_free(modules->list, modules->room * sizeof *list);
        }
        modules->list = list;
        modules->room = room;
    }
    modules->list[modules->count++] = module;
    return 1;
}

static void find_build_id(struct module *module, uintptr_t notes, size_t size) {
    // ELF notes: name size, content size, type (3: build-id), then name and content, each padded to 4.
    while (size >= 12) {
        const uint32_t *note = (const uint32_t *)notes;
        size_t name = (note[0] + 3ul) & ~3ul, content = (note[1] + 3ul) & ~3ul;
        if (12 + name + content > size) return;
        if (note[2] == 3 && note[0] == 4 && __builtin_memcmp(note + 3, "GNU", 4) == 0 && note[1] <= 64) {
            module->build_id = (const char *)notes + 12 + name;
            module->build_id_size = note[1];
            return;
        }
        notes += 12 + name + content;
        size -= 12 + name + content;
    }
}

static int collect(struct dl_phdr_info *info, size_t size, void *result) {
    struct modules *modules = result;
    if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid)) {
        modules->version = info->dlpi_adds + info->dlpi_subs;
        if (modules->version == known.version && known.count) return 1;  // nothing has changed
    }
    struct module module = {.bias = info->dlpi_addr, .low = UINTPTR_MAX, .name = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            if (start < module.low) module.low = start;
            if (start + header->p_memsz > module.high) module.high = start + header->p_memsz;
        } else if (header->p_type == PT_NOTE) {
            find_build_id(&module, start, header->p_memsz);
        }
    }
    if (module.high) add(modules, module);
    return 0;
}

static void tell_module(const struct module *module, int is_program) {
    static char path[8192];  // under modules_lock; the thread's stack may be small
    size_t size = 0;
    if (is_program) {
        long got = SYSTEM(readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path, 0, 0);
        size = got > 0 ? (size_t)got : 0;
    } else {
        if (module->name[0] != '/') {
            long got = SYSTEM(getcwd, path, 4096, 0, 0, 0, 0);
            if (got > 1) {
                size = (size_t)got;
                path[size - 1] = '/';
            }
        }
        for (const char *c = module->name; *c && size < sizeof path; c++) path[size++] = *c;
    }
    struct fathom_module_item item = {
        // Those of the first scan were there all along, for a child forked meanwhile too.
        .seen_ticks = known.count ? now_ticks() : runtime.start_ticks,
        .bias = module->bias,
        .low = module->low,
        .high = module->high,
        .build_id_size = module->build_id_size,
        .path_size = (uint32_t)size,
    };
    struct part parts[] = {ITEM_BODY(item), {module->build_id, module->build_id_size}, {path, size}};
    metadata_append(FATHOM_ITEM_MODULE, parts, 3);
}

static void tell_unloaded(const struct module *module) {
    struct fathom_unload_item item = {.ticks = now_ticks(), .low = module->low};
    struct part parts[] = {ITEM_BODY(item)};
    metadata_append(FATHOM_ITEM_UNLOAD, parts, 1);
}

static int same(const struct module *a, const struct module *b) {
    return a->low == b->low && a->high == b->high && a->name == b->name;
}

// The kernel's vDSO is a module without a file; its name has no slash, all others' have one.
static int is_file(const char *name) {
    while (*name && *name != '/') name++;
    return *name == '/';
}

static void merge(struct modules *found) {
    for (size_t i = 0; i < known.count; i++) known.list[i].seen = 0;
    for (size_t i = 0; i < found->count; i++)
        for (size_t j = 0; j < known.count; j++)
            if (!known.list[j].seen && same(&found->list[i], &known.list[j]))
                found->list[i].seen = known.list[j].seen = 1;
    for (size_t j = 0; j < known.count; j++)
        if (!known.list[j].seen) tell_unloaded(&known.list[j]);
    for (size_t i = 0; i < found->count; i++)
        if (!found->list[i].seen && (i == 0 || is_file(found->list[i].name))) tell_module(&found->list[i], i == 0);
}

void modules_scan(void) {
    uint64_t signals = system_block_signals();
    runtime.modules_stale = 0;
    // The list is read under the dynamic linker's lock and compared under ours, never both at once: whoever holds the
    // linker's may be waiting for ours.
    struct modules found = {0};
    dl_iterate_phdr(collect, &found);
    struct modules gone = found;
    if (found.count) {
        uint64_t blocked = lock_take(&runtime.modules_lock);
        if (found.version >= known.version) {
            merge(&found);
            gone = known;
            known = found;
        }
        lock_give(&runtime.modules_lock, blocked);
    }
    if (gone.list) system_free(gone.list, gone.room * sizeof *gone.list);
    system_restore_signals(signals);
}

int modules_hold(const uintptr_t *addresses, uint32_t count) {
    uint64_t signals = lock_take(&runtime.modules_lock);
    uint32_t held = 0;
    for (; held < count; held++) {
        const struct module *module = known.list, *end = module + known.count;
        while (module < end && addresses[held] - module->low >= module->high - module->low) module++;
        if (module == end) break;
    }
    lock_give(&runtime.modules_lock, signals);
    return held == count;
}

void fathom_note_modules(void) {
    if (runtime.state == STATE_READY && control.mode != MODE_UNKNOWN && !confine_unnoted()) modules_scan();
}

void fathom_note_loading(void) {
    struct thread *t = &current;
    runtime.modules_stale = 1;
    t->look = FIRST_LOOK;
    if (runtime.state != STATE_READY || control.mode == MODE_UNKNOWN || t->state != THREAD_ATTACHED) return;
    // One store each, so that a signal handler's hook in between finds either both limits or one of them.
    if (!t->limit) return;
    if (!t->wanted_limit) t->wanted_limit = t->limit;
    BARRIER();
    t->limit = NULL;
}

FATHOM_WITHOUT_HOOKS_END
