// Finds the slots of the global offset tables, and makes them lead to stubs.
//
//   JUMP_SLOT   The dynamic linker has bound it, or binds it at its first call (lazily). In the latter case the stub
//               goes to the function that the dynamic linker would find, where that is certain, and the slot is never
//               bound. Else the slot is left alone until it is.
//   GLOB_DAT    Code may read it, to compare functions or to pass them on. So only those are taken that all code of the
//               module calls or jumps through (session/library_uses.c), as code does that was compiled with -fno-plt.
//
// Calls of what has hooks, or sleds, of its own are left to these, and those of sanitizers alone. So are the calls that
// the C library, the dynamic linker and the unwinder make: the runtime itself calls these.

#include "library_slots.h"

#include "../host/loader.h"
#include "../host/patch.h"
#include "../host/runtime.h"
#include "../host/text.h"
#include "CTraceRuntimeHostSymbols.h"
#include "sled_module.h"

#include <sys/mman.h>

#if defined(__x86_64__)

FATHOM_WITHOUT_HOOKS

struct library_call library_calls[LIBRARY_CALL_COUNT];

// The image's pool of stubs; 0: it has none.
static uintptr_t stubs(void) { return (uintptr_t)fathom_image.library_stubs; }
static uintptr_t stub_of(const struct library_call *call) {
    return stubs() + (uintptr_t)(call - library_calls) * LIBRARY_STUB_SIZE;
}
static int is_stub(uintptr_t address) { return address - stubs() < LIBRARY_CALL_COUNT * LIBRARY_STUB_SIZE; }

// ---- the modules there are

struct loaded {
    uintptr_t low, high;
    struct symbols symbols;
    uint8_t is_runtime;
    uint8_t keeps_slots;  // its own slots are left alone
    uint8_t is_left;      // calls of its functions are
    uint8_t has_hooks;    // 1: it has; 2: it has none; 0: nobody has asked yet
    uint8_t is_of_start;  // the program was started with it
};
struct all {
    struct loaded *loaded, *runtime;
    size_t count, room;
    uint64_t version;  // dlpi_adds + dlpi_subs
    int is_late;       // a module is not finished, or the list has changed meanwhile
};

// Of those that the program was started with: how many stand at the beginning of the list, where they stay.
static size_t start_count;
// Whether functions are found as usual: not where the environment changes how, or has it watched.
static int is_usual;

void library_slots_begin(char **environment) {
    static const char names[] = "LD_AUDIT=\0LD_PROFILE=\0LD_DYNAMIC_WEAK=\0LD_BIND_NOT=\0";
    is_usual = 1;
    for (; *environment; environment++)
        for (const char *name = names; *name; name += text_length(name) + 1)
            if (text_starts_with(*environment, name)) is_usual = 0;
}

static uint64_t version_of(const struct dl_phdr_info *info, size_t size) {
    return size >= offsetof(struct dl_phdr_info, dlpi_tls_modid) ? info->dlpi_adds + info->dlpi_subs : 0;
}

static void bounds(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high) {
    *low = UINTPTR_MAX, *high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD) continue;
        if (start < *low) *low = start;
        if (start + header->p_memsz > *high) *high = start + header->p_memsz;
    }
}

static int holds(const struct loaded *module, uintptr_t address) {
    return address - module->low < module->high - module->low;
}

static int collect(struct dl_phdr_info *info, size_t size, void *argument) {
    struct all *all = argument;
    all->version = version_of(info, size);
    if (all->count == all->room) {
        size_t room = all->room ? all->room * 2 : 128;
        struct loaded *more = system_allocate(room * sizeof *more);
        if (!more) return 1;
        if (all->room) {
            __builtin_memcpy(more, all->loaded, all->count * sizeof *more);
            system_free(all->loaded, all->room * sizeof *more);
        }
        all->loaded = more;
        all->room = room;
    }
    const ElfW(Dyn) *dynamic = symbols_dynamic(info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
    struct loaded *module = &all->loaded[all->count];
    *module = (struct loaded){.symbols = symbols_of(info->dlpi_addr, dynamic)};
    const char *name = module->symbols.own_name;
    bounds(info, &module->low, &module->high);
    module->is_runtime = holds(module, (uintptr_t)&runtime);
    module->keeps_slots = module->is_runtime || !dynamic || (name && library_is_system(name));
    module->is_left = name && library_is_sanitizer(name);
    module->is_of_start = all->count++ < start_count;
    return 0;
}

static struct loaded *module_at(const struct all *all, uintptr_t address) {
    for (struct loaded *module = all->loaded; module < all->loaded + all->count; module++)
        if (holds(module, address)) return module;
    return NULL;
}

static int has_hooks(struct loaded *module) {
    static const char hooks[] = "__cyg_profile_func_enter\0fathom_function_enter\0fathom_swift_enter\0";
    if (module->has_hooks) return module->has_hooks == 1;
    module->has_hooks = 2;
    for (const char *hook = hooks; *hook; hook += text_length(hook) + 1)
        if (symbols_bound(&module->symbols, hook)) module->has_hooks = 1;
    for (uint32_t i = 0; sled_module_known(i); i++)
        if (sled_module_known(i)->low == module->low && sled_module_known(i)->is_open) module->has_hooks = 1;
    return module->has_hooks == 1;
}

// ---- the slots that are known, all under LOCK_SLOTS

// Slots of one module: a stretch of `library_calls`. `low` is 0 where the module is gone, and another may have it.
#define STRETCH_LIMIT 4096u
static struct stretch_of_calls {
    uintptr_t low, high;
    uint32_t first, count, room;
    uint32_t has_unbound;  // some of the module's slots were left alone until they are bound
} stretches[STRETCH_LIMIT];
static uint32_t stretch_count, call_count;

static struct stretch_of_calls *stretch_for(uint32_t room) {
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++)
        if (!stretch->low && stretch->room >= room && stretch->room <= room * 2) return stretch;
    if (stretch_count == STRETCH_LIMIT || LIBRARY_CALL_COUNT - call_count < room) return NULL;
    struct stretch_of_calls *stretch = &stretches[stretch_count++];
    *stretch = (struct stretch_of_calls){.first = call_count, .room = room};
    call_count += room;
    return stretch;
}

// The module is gone, or another one is in its place: none of its slots holds its stub. It is there, as the caller sees
// to, or nothing is read of it.
static void forget_gone(const struct all *all) {
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++) {
        const struct loaded *module = stretch->low ? module_at(all, stretch->low) : NULL;
        int is_there = module && module->low == stretch->low && module->high == stretch->high;
        const struct library_call *first = &library_calls[stretch->first];
        if (is_there && stretch->count && *first->slot != stub_of(first)) is_there = 0;
        if (!is_there) stretch->low = 0;
    }
}

// ---- which function a slot leads to

// The first module that defines what a slot is to lead to, apart from the runtime; and how many do.
static struct loaded *find_owner(struct all *all, const struct loaded *from, uint32_t index, const ElfW(Sym) * *symbol,
                                 int *is_default, uint32_t *count) {
    struct loaded *owner = NULL;
    *symbol = NULL;
    *count = 0;
    for (struct loaded *module = all->loaded; module < all->loaded + all->count; module++) {
        int is_its_default;
        const ElfW(Sym) *found =
            module->is_runtime ? NULL : symbols_definition(&module->symbols, &from->symbols, index, &is_its_default);
        if (!found) continue;
        if (!(*count)++) *symbol = found, *is_default = is_its_default, owner = module;
    }
    return owner;
}

// Whether the dynamic linker would find this very function for a slot, as do_lookup_x of glibc does: the first one in
// the order of the modules, where neither versions nor the way that a module was linked or loaded leave it a choice.
static int is_certain(const struct loaded *from, uint32_t index, const struct loaded *owner, const ElfW(Sym) * symbol,
                      uint32_t count) {
    uint32_t binding = ELF64_ST_BIND(symbol->st_info), type = ELF64_ST_TYPE(symbol->st_info);
    const ElfW(Half) *versions = owner->symbols.versions;
    int has_version = versions && (versions[symbol - owner->symbols.symbols] & 0x7fff) > VER_NDX_GLOBAL;
    return is_usual && owner->is_of_start && (from->is_of_start || count == 1) && !from->symbols.is_symbolic &&
           (type == STT_FUNC || type == STT_GNU_IFUNC) && (binding == STB_GLOBAL || binding == STB_WEAK) &&
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_DEFAULT && symbol->st_shndx < SHN_LORESERVE &&
           (symbols_version(&from->symbols, index) || !has_version);
}

static long choose(void *resolver) { return ((long (*)(void))resolver)(); }

// Whether a slot leads to where its module has it bound: to the instruction that pushes the relocation's number, or
// anywhere in the module but to the module's own function.
static int is_unbound(const struct loaded *from, const ElfW(Rela) * relocation, uintptr_t value,
                      const ElfW(Sym) * own) {
    const uint8_t *code = (const uint8_t *)value;
    uint32_t number = (uint32_t)(relocation - from->symbols.relocations[0]), pushed;
    if (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) code += 4;  // endbr64
    __builtin_memcpy(&pushed, code + 1, sizeof pushed);
    if (code[0] == 0x68 && pushed == number) return 1;
    return !own || (ELF64_ST_TYPE(own->st_info) == STT_FUNC && from->symbols.bias + own->st_value != value);
}

static int is_function(const ElfW(Sym) * symbol) {
    uint32_t type = symbol ? ELF64_ST_TYPE(symbol->st_info) : STT_NOTYPE;
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

// What becomes of one slot: 1: `call` says; 0: it is left alone; -1: until it is bound.
static int find_function(struct all *all, struct loaded *from, const ElfW(Rela) * relocation, int is_data,
                         struct library_call *call) {
    uint32_t index = ELF64_R_SYM(relocation->r_info), count = 0;
    const char *name = from->symbols.names + from->symbols.symbols[index].st_name;
    uintptr_t *slot = (uintptr_t *)(from->symbols.bias + relocation->r_offset), value = *slot;
    enum library_fate fate = library_name_fate(name);
    struct loaded *owner = module_at(all, value);
    if (!owner || fate == LIBRARY_LEFT || is_stub(value)) return 0;
    int is_default = 1, is_wrapped = owner->is_runtime;
    const ElfW(Sym) *symbol = symbols_definition(&owner->symbols, &from->symbols, index, &is_default), *own = NULL;
    int is_lazy = owner == from && !is_data && is_unbound(from, relocation, value, symbol);
    // The kernel's module, which has no file, is asked by versions of its own.
    if (is_lazy || is_wrapped || !symbol) {
        own = symbols_definition(&all->runtime->symbols, &from->symbols, index, &is_default);
        owner = find_owner(all, from, index, &symbol, &is_default, &count);
        // The list of modules has the order in which functions are looked for.
        is_wrapped = own && (!owner || all->runtime < owner);
    }
    if (is_data && !is_function(symbol)) return 0;
    if (symbol && (owner->is_left || has_hooks(owner))) return 0;
    uintptr_t defined = symbol ? owner->symbols.bias + symbol->st_value : 0;
    int is_chosen = symbol && ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
    if (is_lazy) {
        if (!symbol || !is_certain(from, index, owner, symbol, count)) return -1;
        if (is_wrapped) value = all->runtime->symbols.bias + own->st_value;
        else value = is_chosen ? (uintptr_t)vectors_keep(choose, (void *)defined) : defined;
    }
    int is_it = symbol && (is_wrapped || is_chosen || defined == value);
    *call = (struct library_call){
        .target = value,
        .function = is_it ? defined : value,
        .slot = slot,
        .name = name,
        .version = is_it && !is_default ? symbols_version(&from->symbols, index) : NULL,
        .is_passed = fate == LIBRARY_PASSED,
    };
    return 1;
}

static size_t count_kind(const struct symbols *in, uint32_t kind) {
    size_t count = 0;
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; in->relocations[table] && i < in->relocation_count[table]; i++)
            count += ELF64_R_TYPE(in->relocations[table][i].r_info) == kind;
    return count;
}

static size_t find_kind(struct all *all, struct loaded *from, uint32_t kind, struct library_call *calls,
                        uint32_t *has_unbound) {
    size_t count = 0;
    for (int table = 0; table < 2; table++) {
        const ElfW(Rela) *relocation = from->symbols.relocations[table];
        for (size_t i = 0; relocation && i < from->symbols.relocation_count[table]; i++, relocation++) {
            if (ELF64_R_TYPE(relocation->r_info) != kind || !ELF64_R_SYM(relocation->r_info)) continue;
            int found = find_function(all, from, relocation, kind == R_X86_64_GLOB_DAT, &calls[count]);
            if (found > 0) count++;
            if (found < 0) *has_unbound = 1;
        }
    }
    return count;
}

// Shell's sort (D. L. Shell, 1959), with gaps of D. E. Knuth.
static void sort(struct library_call *calls, size_t count) {
    size_t gap = 1;
    while (gap < count / 3) gap = gap * 3 + 1;
    for (; gap; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            struct library_call call = calls[i];
            size_t at = i;
            for (; at >= gap && calls[at - gap].slot > call.slot; at -= gap) calls[at] = calls[at - gap];
            calls[at] = call;
        }
}

// Keeps those that code only calls through. `room` has a pointer and a byte for each.
static size_t keep_called(const struct dl_phdr_info *info, struct library_call *calls, size_t count, void *room) {
    uintptr_t **slots = room;
    uint8_t *marks = (uint8_t *)(slots + count);
    size_t kept = 0;
    sort(calls, count);
    for (size_t i = 0; i < count; i++) slots[i] = calls[i].slot, marks[i] = 0;
    library_slots_mark_uses(info, slots, marks, count);
    for (size_t i = 0; i < count; i++)
        if (marks[i]) calls[kept++] = calls[i];
    return kept;
}

// ---- taking them

// The pages that the dynamic linker makes read-only when it has finished the module.
static void read_only(const struct dl_phdr_info *info, uintptr_t *low, uintptr_t *high) {
    *low = *high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_GNU_RELRO) continue;
        *low = (info->dlpi_addr + header->p_vaddr) & ~(PAGE_SIZE - 1);
        *high = (info->dlpi_addr + header->p_vaddr + header->p_memsz) & ~(PAGE_SIZE - 1);
    }
}

// Whether the dynamic linker has finished a module: its slots lead somewhere, and what is to be read-only is.
static int is_finished(const struct all *all, const struct loaded *module, uintptr_t low, uintptr_t high) {
    struct mapping found;
    const struct symbols *in = &module->symbols;
    if (low < high) return maps_find(low, &found) && found.low <= low && !(found.rights & PROT_WRITE);
    for (size_t i = 0; in->relocations[0] && i < in->relocation_count[0]; i++) {
        const ElfW(Rela) *relocation = &in->relocations[0][i];
        uintptr_t value = *(const uintptr_t *)(in->bias + relocation->r_offset);
        if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT && value && !module_at(all, value)) return 0;
    }
    return 1;
}

static void take(struct loaded *module, const struct library_call *found, size_t count, uint32_t has_unbound,
                 uintptr_t low, uintptr_t high) {
    struct stretch_of_calls *stretch = stretch_for((uint32_t)count);
    if (!stretch || (low < high && system_protect(low, high, PROT_READ | PROT_WRITE) < 0)) return;
    *stretch = (struct stretch_of_calls){module->low,     module->high,  stretch->first,
                                         (uint32_t)count, stretch->room, has_unbound};
    struct library_call *calls = &library_calls[stretch->first];
    __builtin_memcpy(calls, found, count * sizeof *calls);
    // Release: a thread that comes by the slot finds what its stub leads to.
    for (size_t i = 0; i < count; i++) __atomic_store_n(calls[i].slot, stub_of(&calls[i]), __ATOMIC_RELEASE);
    if (low < high) system_protect(low, high, PROT_READ);
}

static int is_known(const struct loaded *module) {
    int is_known = 0;
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++) {
        if (stretch->low != module->low) continue;
        if (stretch->has_unbound) {
            stretch->has_unbound = 0;
            return 0;
        }
        is_known = 1;
    }
    return is_known;
}

static void look_at(struct all *all, struct loaded *module, const struct dl_phdr_info *info) {
    uintptr_t low, high;
    uint32_t has_unbound = 0;
    if (is_known(module)) return;
    read_only(info, &low, &high);
    if (!is_finished(all, module, low, high)) {
        all->is_late = 1;
        return;
    }
    size_t jumps = count_kind(&module->symbols, R_X86_64_JUMP_SLOT);
    size_t data = count_kind(&module->symbols, R_X86_64_GLOB_DAT);
    size_t head = (jumps + data) * sizeof(struct library_call), size = head + (data + 1) * 2 * sizeof(uintptr_t);
    struct library_call *calls = system_allocate(size);
    if (!calls) return;
    size_t count = find_kind(all, module, R_X86_64_JUMP_SLOT, calls, &has_unbound);
    size_t found = find_kind(all, module, R_X86_64_GLOB_DAT, calls + count, &has_unbound);
    if (found) found = keep_called(info, calls + count, found, (char *)calls + head);
    take(module, calls, count + found, has_unbound, low, high);
    system_free(calls, size);
}

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
    struct all *all = argument;
    if (version_of(info, size) != all->version) {
        all->is_late = 1;
        return 1;
    }
    uintptr_t low, high;
    bounds(info, &low, &high);
    for (struct loaded *module = all->loaded; module < all->loaded + all->count; module++) {
        if (module->low != low) continue;
        uint64_t signals = lock_take(LOCK_SLOTS);
        if (module == all->loaded) forget_gone(all);
        if (!module->keeps_slots) look_at(all, module, info);
        lock_give(LOCK_SLOTS, signals);
    }
    return 0;
}

void library_slots_scan(void) {
    struct all all = {0};
    if (!(runtime.head.tells & FATHOM_TELLS_LIBRARY_CALLS) || !stubs()) return;
    vectors_matter = 1;
    loader_touch_stack();
    uint64_t signals = system_block_signals();
    int is_first = is_usual && !start_count;
    if (is_first) start_count = SIZE_MAX;
    int is_had = loader_modules(collect, &all, LOADER_NOW) >= 0;
    if (is_first) start_count = is_had ? all.count : 0;
    all.runtime = module_at(&all, (uintptr_t)&runtime);
    if (!is_had || !all.runtime || loader_modules(look, &all, LOADER_NOW) < 0) all.is_late = 1;
    if (all.is_late) runtime.modules_stale = 1;
    if (all.loaded) system_free(all.loaded, all.room * sizeof *all.loaded);
    system_restore_signals(signals);
}

// ---- the end

static int restore(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size, (void)argument;
    uintptr_t low, high, first, end;
    bounds(info, &low, &high);
    uint64_t signals = lock_take(LOCK_SLOTS);
    for (struct stretch_of_calls *stretch = stretches; stretch < stretches + stretch_count; stretch++) {
        if (stretch->low != low || stretch->high != high) continue;
        read_only(info, &first, &end);
        if (first < end && system_protect(first, end, PROT_READ | PROT_WRITE) < 0) continue;
        for (struct library_call *call = &library_calls[stretch->first];
             call < &library_calls[stretch->first + stretch->count]; call++) {
            uintptr_t stub = stub_of(call);
            __atomic_compare_exchange_n(call->slot, &stub, call->target, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
        }
        if (first < end) system_protect(first, end, PROT_READ);
        stretch->low = 0;
    }
    lock_give(LOCK_SLOTS, signals);
    return 0;
}

void library_slots_restore(void) {
    if (stretch_count) loader_modules(restore, NULL, LOADER_PATIENCE);
}

FATHOM_WITHOUT_HOOKS_END

#endif
