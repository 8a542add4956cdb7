// Opens and closes sleds (CTraceSleds/sleds.c). An open sled is one instruction as long as the sled, so that no thread
// is ever inside one: a call, or at a function's end a jump, with prefixes that mean nothing. A closed sled ends, or
// jumps over its rest, with its first two bytes. So, all sleds of a module at once:
//
//   opening   a sled that is one long nop becomes a jump over its rest, which is the same; then the rest is written,
//             which nobody executes; then the first two bytes make it a call
//   closing   the same backwards
//
// Each step is one store of two bytes at an even address, or to bytes that nobody executes, and between the steps all
// processors are made to take notice. Whoever executes a sled meanwhile executes what it was or what it becomes.

#include "sleds.h"

#include "../host/loader.h"
#include "../host/patch.h"
#include "../host/runtime.h"
#include "functions.h"
#include "metadata.h"
#include "sled_list.h"
#include "sled_loops.h"

#include <link.h>

FATHOM_WITHOUT_HOOKS

#if defined(__x86_64__)

// ---- what sleds are made of

struct bytes {
    uint8_t head[2], rest[SLED_SIZE - 2];
};
// As LLVM makes them: a jump over the rest, and a return.
static const struct bytes jump = {{0xeb, 0x09}, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}};
static const struct bytes leave = {{0xc3, 0x2e}, {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}};
// As `fathom build` makes a jump: one instruction.
static const struct bytes nop = {{0x66, 0x66}, {0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}};
// The prefixes of an open sled: segments that nothing is read from, of which there are four. Those that stand for two
// bits each tell how far behind the function's beginning the sled lies, and what it was (sled_distance).
#define PREFIX_OF(bits) ((uint8_t)(0x26 | ((bits)&3) << 3))
#define DISTANCE_LIMIT 128u
#define JUMP 0xe9

static uint16_t head_of(const struct bytes *bytes) { return (uint16_t)(bytes->head[0] | bytes->head[1] << 8); }
static const uint16_t open_head = SLED_PREFIX | SLED_PREFIX << 8;
// The first two bytes of a sled that is being opened or closed.
static uint16_t between_head(const struct sled *sled) { return head_of(sled->kind == KIND_EXIT ? &leave : &jump); }

static int is_there(uintptr_t address, const struct bytes *bytes) {
    return __builtin_memcmp((const void *)address, bytes, SLED_SIZE) == 0;
}
// Whether a sled is a closed one, as compilers make it.
static int is_closed(const struct sled *sled) {
    uintptr_t address = address_of(sled);
    return sled->kind == KIND_EXIT ? is_there(address, &leave) : is_there(address, &jump) || is_there(address, &nop);
}
static int is_open(const struct sled *sled) {
    const uint8_t *bytes = (const uint8_t *)address_of(sled);
    return bytes[0] == SLED_PREFIX && bytes[1] == SLED_PREFIX &&
           bytes[SLED_CALL_PLACE] == (sled->kind == KIND_EXIT ? JUMP : SLED_CALL);
}

// ---- modules

// The stubs of a product. Version 0.2.0 left room for six.
#define FIRST_STUB_COUNT 6u

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
// They stay where they are. `low` is 0 where a module is gone.
#define MODULE_LIMIT 512u
static struct sled_module modules_with_sleds[MODULE_LIMIT];
static uint32_t module_count;

const uintptr_t *sled_targets;

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

// ---- writing

static const struct span *span_of(const struct sled_module *module, uintptr_t address, size_t size) {
    for (const struct span *span = module->spans; span < module->spans + module->span_count; span++)
        if (address >= span->low && address < span->high && size <= span->high - address) return span;
    return NULL;
}

// How a sled is changed.
enum { MARK_NONE, MARK, MARK_AGAIN };  // MARK_AGAIN: its function may come by it more than once in a call

// The stub that a sled leads to; SLED_STUB_COUNT when there is none for it.
static uint32_t stub_of(const struct sled_module *module, const struct sled *sled, uint8_t mark) {
    static const uint8_t behind[] = {[SLED_enter_0] = 0, [SLED_enter_1] = 1, [SLED_enter_4] = 4, [SLED_enter_5] = 5};
    if (sled->kind == KIND_EXIT) return SLED_leave;
    if (sled->kind == KIND_TAIL) return SLED_tail;
    uintptr_t distance = address_of(sled) - function_of(sled);
    for (uint32_t i = 0; i < sizeof behind && mark != MARK_AGAIN; i++)
        if (distance == behind[i]) return i;
    return distance < DISTANCE_LIMIT && module->stub_count > SLED_enter_again ? SLED_enter_again : SLED_STUB_COUNT;
}

static void write_stubs(struct sled_module *module) {
    if (!module->is_prepared)
        __builtin_memcpy(module->stubs_before, (const void *)module->stubs, module->stub_count * SLED_STUB_SIZE);
    module->is_prepared = 1;
    for (uint32_t i = 0; i < module->stub_count; i++) {
        // jmp *0(%rip), and the target behind it: no register is free.
        uint8_t code[14] = {0xff, 0x25};
        __builtin_memcpy(code + 6, &sled_targets[i], sizeof(uintptr_t));
        __builtin_memcpy((void *)(module->stubs + i * SLED_STUB_SIZE), code, sizeof code);
    }
}

// What stands behind the first two bytes of an open sled.
static void write_rest(const struct sled_module *module, const struct sled *sled, uint8_t mark) {
    uintptr_t address = address_of(sled), target = module->stubs + stub_of(module, sled, mark) * SLED_STUB_SIZE;
    uintptr_t behind = address - function_of(sled);
    uint8_t was_nop = ((const uint8_t *)address)[2] == nop.rest[0];
    int32_t distance = (int32_t)(target - (address + SLED_SIZE));
    uint8_t rest[SLED_SIZE - 2] = {PREFIX_OF(behind), PREFIX_OF(behind >> 2), PREFIX_OF(behind >> 4),
                                   PREFIX_OF((was_nop ? 0 : 1) | (behind >> 5 & 2)),
                                   sled->kind == KIND_EXIT ? JUMP : SLED_CALL};
    __builtin_memcpy(rest + 5, &distance, sizeof distance);
    __builtin_memcpy((void *)(address + 2), rest, sizeof rest);
}

static int was_nop(const struct sled *sled) { return (((const uint8_t *)address_of(sled))[5] & 8) == 0; }

static const struct sled *end_of_function(const struct sled_module *module, const struct sled *sled) {
    uintptr_t function = function_of(sled);
    while (sled < module->last && function_of(sled) == function) sled++;
    return sled;
}

// How many bytes of code a function has up to its last end, its sleds not counted.
static uintptr_t size_of(const struct sled *first, const struct sled *last) {
    uintptr_t start = function_of(first), end = start, sleds = 0;
    for (const struct sled *sled = first; sled < last; sled++) {
        if (address_of(sled) + SLED_SIZE > end) end = address_of(sled) + SLED_SIZE;
        sleds += SLED_SIZE;
    }
    return end - start > sleds ? end - start - sleds : 0;
}

// Whether the sleds of a function are such that they can be opened, with such a mark.
static int can_be_opened(const struct sled_module *module, const struct sled *first, const struct sled *last,
                         uint8_t mark) {
    for (const struct sled *sled = first; sled < last; sled++) {
        uintptr_t address = address_of(sled);
        if (sled->version != SLED_VERSION || sled->kind > KIND_ENTER_ARGUMENTS || address % 2 != 0 ||
            !span_of(module, address, SLED_SIZE) || stub_of(module, sled, mark) == SLED_STUB_COUNT)
            return 0;
        intptr_t distance = (intptr_t)(module->stubs - (address + SLED_SIZE));
        if (distance != (int32_t)distance || distance > INT32_MAX - (intptr_t)(SLED_STUB_COUNT * SLED_STUB_SIZE))
            return 0;
        if (!is_closed(sled) && !is_open(sled)) return 0;
    }
    return 1;
}

// The function's code ends where the segment or the next function in the list does, at the latest.
static enum sled_place place_of(const struct sled_module *module, const struct sled *first, const struct sled *last) {
    const struct span *span = span_of(module, function_of(first), 1);
    if (!span) return SLED_UNUSABLE;
    uintptr_t limit = span->high, next = last < module->last ? function_of(last) : 0;
    return sled_place(first, last, next > address_of(first) && next < limit ? next : limit);
}

// Whether options want calls of a function.
static int is_wanted(const struct sled *first, const struct sled *last, struct fathom_sleds_item *told) {
    uint32_t says = functions_say(function_of(first));
    // Without a record of their own, calls of hidden functions are what unhooked ones are: their callees count as their
    // callers'.
    if (says & FATHOM_SAYS_CLOSED || says == FATHOM_SAYS_HIDDEN) {
        told->unwanted++;
        return 0;
    }
    if (runtime.head.min_size && size_of(first, last) < runtime.head.min_size) {
        told->small++;
        return 0;
    }
    return 1;
}

// ---- making code writable

static void end_changes(const struct sled_module *module, uint32_t spans) {
    for (uint32_t i = 0; i < spans; i++)
        if (module->spans[i].to) patch_end(&module->spans[i].patch);
}

static long begin_changes(struct sled_module *module) {
    for (uint32_t i = 0; i < module->span_count; i++) {
        struct span *span = &module->spans[i];
        long error = span->to ? patch_begin(&span->patch, span->from, span->to) : 0;
        if (error >= 0) continue;
        end_changes(module, i);
        return error;
    }
    return 0;
}

static int spread_changes(const struct sled_module *module) {
    for (uint32_t i = 0; i < module->span_count; i++)
        if (module->spans[i].to && !patch_spread(&module->spans[i].patch)) return 0;
    return 1;
}

static long open_marked(struct sled_module *module, const uint8_t *marked) {
    size_t count = (size_t)(module->last - module->first);
    long error = begin_changes(module);
    if (error < 0) return error;
    runtime.has_sleds = 1;
    vectors_matter = 1;
    write_stubs(module);
    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < count; i++) {
            const struct sled *sled = &module->first[i];
            if (!marked[i]) continue;
            if (step == 0) patch_head(address_of(sled), between_head(sled));
            else if (step == 1) write_rest(module, sled, marked[i]);
            else patch_head(address_of(sled), open_head);
        }
        if (!spread_changes(module)) return -1;
    }
    end_changes(module, module->span_count);
    return 0;
}

static long close_marked(struct sled_module *module, const uint8_t *marked) {
    size_t count = (size_t)(module->last - module->first);
    long error = begin_changes(module);
    if (error < 0) return error;
    for (int step = 0; step < 3; step++) {
        for (size_t i = 0; i < count; i++) {
            const struct sled *sled = &module->first[i];
            uintptr_t address = address_of(sled);
            if (!marked[i]) continue;
            if (step == 0) {
                patch_head(address, between_head(sled));
            } else if (step == 1) {
                const struct bytes *bytes = sled->kind == KIND_EXIT ? &leave : was_nop(sled) ? &nop : &jump;
                __builtin_memcpy((void *)(address + 2), bytes->rest, sizeof bytes->rest);
            } else if (((const uint8_t *)address)[2] == nop.rest[0] && sled->kind != KIND_EXIT) {
                patch_head(address, head_of(&nop));
            }
        }
        if (!spread_changes(module)) return -1;
    }
    end_changes(module, module->span_count);
    return 0;
}

// ---- opening and closing modules

// Opens what is wanted of a module. Under LOCK_SLEDS.
static long open_module(struct sled_module *module) {
    size_t count = (size_t)(module->last - module->first), opens = 0;
    struct fathom_sleds_item *told = &module->told;
    *told = (struct fathom_sleds_item){.low = module->low};
    uint8_t *marked = system_allocate(count + 1);
    if (!marked) return -1;
    for (const struct sled *first = module->first, *last; first < module->last; first = last) {
        last = end_of_function(module, first);
        told->functions++;
        if (!is_wanted(first, last, told)) continue;
        enum sled_place where = place_of(module, first, last);
        uint8_t mark = where == SLED_AGAIN ? MARK_AGAIN : MARK;
        if (where == SLED_UNUSABLE || !can_be_opened(module, first, last, mark)) {
            *(where == SLED_UNUSABLE ? &told->looping : &told->unknown) += 1;
            continue;
        }
        told->open++;
        for (const struct sled *sled = first; sled < last; sled++) {
            if (!is_closed(sled)) continue;
            marked[sled - module->first] = mark;
            opens++;
        }
    }
    long error = opens ? open_marked(module, marked) : 0;
    module->is_open = 1;
    if (error < 0) {
        told->open = 0;
        told->error = (uint32_t)-error;
    }
    system_free(marked, count + 1);
    return error;
}

static long close_module(struct sled_module *module) {
    size_t count = (size_t)(module->last - module->first), closes = 0;
    uint8_t *marked = system_allocate(count + 1);
    if (!marked) return -1;
    for (size_t i = 0; i < count; i++) closes += marked[i] = (uint8_t)is_open(&module->first[i]);
    long error = closes ? close_marked(module, marked) : 0;
    module->is_open = 0;
    system_free(marked, count + 1);
    return error;
}

// Only the library defines this, which whoever opens sleds from outside looks for.
__attribute__((weak, visibility("hidden"))) void fathom_image_started(void);
// Whether sleds are open only while the process is recorded, because whoever records it opens them.
static int heeds(void) { return runtime.is_armed && runtime.head.paused != FATHOM_PAUSED_OPEN && fathom_image_started; }
int sleds_wait(void) { return heeds() && runtime.paused; }

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

struct bounds {
    uintptr_t low, high;
};

// The note of a module with sleds, and where the module lies; NULL: it has none.
static const struct sleds_note *note_of(const struct dl_phdr_info *info, struct bounds *bounds) {
    const struct sleds_note *note = NULL;
    *bounds = (struct bounds){UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            if (start < bounds->low) bounds->low = start;
            if (start + header->p_memsz > bounds->high) bounds->high = start + header->p_memsz;
        } else if (header->p_type == PT_NOTE && !note) {
            note = find_note(start, header->p_memsz, header->p_align);
        }
    }
    return note;
}

static int has_note(struct dl_phdr_info *info, size_t size, void *result) {
    struct bounds bounds;
    (void)size, (void)result;
    return note_of(info, &bounds) != NULL;
}

int sleds_look(void) { return loader_modules(has_note, NULL, LOADER_PATIENCE) > 0; }

// All that is done with a module's sleds is done while the list of modules is gone through (host/loader.h), because the
// module stays meanwhile.

// The module that the loader tells of, under LOCK_SLEDS. NULL: it has no sleds, or there is no place for it. A new one
// is added with `is_added`, and otherwise not found.
static struct sled_module *module_at(const struct dl_phdr_info *info, int is_added) {
    struct bounds bounds;
    const struct sleds_note *note = note_of(info, &bounds);
    if (!note) return NULL;
    const struct sled *first = (const struct sled *)place(note->first), *last = (const struct sled *)place(note->last);
    struct sled_module *module = module_of(first, bounds.low);
    if (!module || (module->low != 0) == is_added) return NULL;
    if (is_added) {
        uint64_t stubs = FIRST_STUB_COUNT;
        if (note->size >= NOTE_SIZE) __builtin_memcpy(&stubs, note->stub_count, sizeof stubs);
        *module = (struct sled_module){bounds.low, bounds.high, first, last, .stubs = place(note->stubs)};
        module->stub_count = stubs < SLED_STUB_COUNT ? (uint32_t)stubs : SLED_STUB_COUNT;
        find_spans(module, info);
    }
    return module;
}

static int open_new(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size, (void)result;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = module_at(info, 1);
    if (module && !sleds_wait()) open_module(module);
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

static void tell(void) {
    uint64_t signals = lock_take(LOCK_SLEDS);
    for (uint32_t i = 0; i < module_count; i++) {
        struct sled_module *module = &modules_with_sleds[i];
        if (!module->low || module->is_told || !module->is_open) continue;
        module->is_told = 1;
        module->told.ticks = now_ticks();
        struct part parts[] = {ITEM_BODY(module->told)};
        metadata_append(FATHOM_ITEM_SLEDS, parts, 1);
    }
    lock_give(LOCK_SLEDS, signals);
}

void sleds_scan(void) {
    if (!sled_targets || loader_modules(open_new, NULL, LOADER_PATIENCE) < 0) return;
    tell();
}

struct change {
    long (*module)(struct sled_module *);
    int all;
};

static int change_known(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct change *change = argument;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = module_at(info, 0);
    if (module && change->module(module) < 0) change->all = 0;
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

static int for_all(long (*module)(struct sled_module *)) {
    struct change change = {module, 1};
    return loader_modules(change_known, &change, LOADER_PATIENCE) >= 0 && change.all;
}

static void count_closing(void) {
    // Relaxed: the count, which is raised with release, publishes it.
    __atomic_store_n(&runtime.sleds_closed, now_ticks(), __ATOMIC_RELAXED);
    fathom_add32(&runtime.sled_closings, 1);
}

int sleds_open_all(void) { return for_all(open_module); }
int sleds_close_all(void) {
    int all = for_all(close_module);
    count_closing();
    return all;
}

struct heed {
    uint32_t is_wanted, closed;
};

static int heed_in_module(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)size;
    struct heed *heed = argument;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = module_at(info, 0);
    if (module && module->is_open != heed->is_wanted) {
        module->is_told = 0;
        if (heed->is_wanted) open_module(module);
        else heed->closed += close_module(module) == 0;
    }
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

void sleds_heed(void) {
    if (!sled_targets || !heeds()) return;
    struct heed heed = {!sleds_wait(), 0};
    if (loader_modules(heed_in_module, &heed, LOADER_PATIENCE) < 0) return;
    // What is closed is what the process begins with, so only what is open is told.
    tell();
    if (heed.closed) count_closing();
}

static int restore(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size, (void)result;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = module_at(info, 0);
    if (module && module->is_prepared && close_module(module) == 0 && begin_changes(module) == 0) {
        __builtin_memcpy((void *)module->stubs, module->stubs_before, module->stub_count * SLED_STUB_SIZE);
        spread_changes(module);
        end_changes(module, module->span_count);
    }
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

int sleds_forget_all(void) {
    if (module_count && loader_modules(restore, NULL, LOADER_NOW) < 0) return 0;
    __builtin_memset(modules_with_sleds, 0, sizeof modules_with_sleds[0] * module_count);
    module_count = 0;
    return 1;
}

struct functions {
    const uintptr_t *addresses;
    uint32_t count;
    int ends;  // close their ends, not their beginnings
    int all;   // all could be closed
};

static int is_one_of(uintptr_t function, const struct functions *functions) {
    for (uint32_t i = 0; i < functions->count; i++)
        if (functions->addresses[i] == function) return 1;
    return 0;
}

static int is_end(const struct sled *sled) { return sled->kind == KIND_EXIT || sled->kind == KIND_TAIL; }

// Under LOCK_SLEDS. Closes the open sleds at the beginnings of these functions, or at their ends.
static void close_functions(struct sled_module *module, struct functions *functions) {
    size_t all = (size_t)(module->last - module->first), closes = 0;
    if (!module->told.open && !functions->ends) return;
    uint8_t *marked = system_allocate(all + 1);
    if (!marked) {
        functions->all = 0;
        return;
    }
    for (size_t i = 0; i < all; i++) {
        const struct sled *sled = &module->first[i];
        if (is_end(sled) != functions->ends || !is_open(sled)) continue;
        closes += marked[i] = (uint8_t)is_one_of(function_of(sled), functions);
    }
    if (closes && close_marked(module, marked) < 0) {
        functions->all = 0;
    } else if (!functions->ends) {
        module->told.open -= (uint32_t)closes;
        module->told.busy += (uint32_t)closes;
        if (closes) module->is_told = 0;
    }
    system_free(marked, all + 1);
}

static int close_in_module(struct dl_phdr_info *info, size_t size, void *functions) {
    (void)size;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = module_at(info, 0);
    if (module) close_functions(module, functions);
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

static int close_some(const uintptr_t *addresses, uint32_t count, int ends) {
    struct functions functions = {addresses, count, ends, 1};
    if (loader_modules(close_in_module, &functions, LOADER_NOW) < 0) return 0;
    tell();
    return functions.all;
}

int sleds_close_functions(const uintptr_t *addresses, uint32_t count) {
    fathom_store32(&runtime.closes_functions, 1);
    return close_some(addresses, count, 0);
}

int sleds_close_ends(const uintptr_t *addresses, uint32_t count) { return close_some(addresses, count, 1); }

void sleds_forget(uintptr_t low, uintptr_t high) {
    uint64_t signals = lock_take(LOCK_SLEDS);
    for (uint32_t i = 0; i < module_count; i++)
        if (modules_with_sleds[i].low >= low && modules_with_sleds[i].low < high) modules_with_sleds[i].low = 0;
    lock_give(LOCK_SLEDS, signals);
}

#else

const uintptr_t *sled_targets;
void sleds_scan(void) {}
int sleds_open_all(void) { return 1; }
int sleds_close_all(void) { return 1; }
void sleds_heed(void) {}
int sleds_forget_all(void) { return 1; }
int sleds_wait(void) { return 0; }
int sleds_look(void) { return 0; }
int sleds_close_functions(const uintptr_t *functions, uint32_t count) { return (void)functions, (void)count, 1; }
int sleds_close_ends(const uintptr_t *functions, uint32_t count) { return (void)functions, (void)count, 1; }
void sleds_forget(uintptr_t low, uintptr_t high) { (void)low, (void)high; }

#endif

FATHOM_WITHOUT_HOOKS_END
