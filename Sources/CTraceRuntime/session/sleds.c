// Which sleds are opened and closed, and when: as options ask, with `fathom arm`, and one by one for --budget.

#include "sleds.h"

#include "functions.h"
#include "metadata.h"
#include "sled_list.h"
#include "sled_module.h"

FATHOM_WITHOUT_HOOKS

#if defined(__x86_64__)

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
        if (where == SLED_UNUSABLE || !sleds_can_be_opened(module, first, last, mark)) {
            *(where == SLED_UNUSABLE ? &told->looping : &told->unknown) += 1;
            continue;
        }
        told->open++;
        for (const struct sled *sled = first; sled < last; sled++) {
            if (!sled_closed(sled)) continue;
            marked[sled - module->first] = mark;
            opens++;
        }
    }
    long error = opens ? sleds_open_marked(module, marked) : 0;
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
    for (size_t i = 0; i < count; i++) closes += marked[i] = (uint8_t)sled_open(&module->first[i]);
    long error = closes ? sleds_close_marked(module, marked) : 0;
    module->is_open = 0;
    system_free(marked, count + 1);
    return error;
}

// Whether sleds are open only while the process is recorded, because whoever records it opens them: from outside, where
// the runtime is a library.
static int heeds(void) { return runtime.is_armed && runtime.head.paused != FATHOM_PAUSED_OPEN && fathom_image.started; }
int sleds_wait(void) { return heeds() && runtime.paused; }

static int has_begun;
void sleds_begin(void) { has_begun = 1; }

static int has_note(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size, (void)result;
    return sled_module_is(info);
}

int sleds_look(void) { return loader_modules(has_note, NULL, LOADER_PATIENCE) > 0; }

// All that is done with a module's sleds is done while the list of modules is gone through (host/loader.h), because the
// module stays meanwhile.

static int open_new(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size, (void)result;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = sled_module_at(info, 1);
    if (module && !sleds_wait()) open_module(module);
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

static void tell(void) {
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module;
    for (uint32_t i = 0; (module = sled_module_known(i)); i++) {
        if (!module->low || module->is_told || !module->is_open) continue;
        module->is_told = 1;
        module->told.ticks = now_ticks();
        struct part parts[] = {ITEM_BODY(module->told)};
        metadata_append(FATHOM_ITEM_SLEDS, parts, 1);
    }
    lock_give(LOCK_SLEDS, signals);
}

void sleds_scan(void) {
    if (!has_begun || loader_modules(open_new, NULL, LOADER_PATIENCE) < 0) return;
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
    struct sled_module *module = sled_module_at(info, 0);
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
    struct sled_module *module = sled_module_at(info, 0);
    if (module && module->is_open != heed->is_wanted) {
        module->is_told = 0;
        if (heed->is_wanted) open_module(module);
        else heed->closed += close_module(module) == 0;
    }
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

void sleds_heed(void) {
    if (!has_begun || !heeds()) return;
    struct heed heed = {!sleds_wait(), 0};
    if (loader_modules(heed_in_module, &heed, LOADER_PATIENCE) < 0) return;
    // What is closed is what the process begins with, so only what is open is told.
    tell();
    if (heed.closed) count_closing();
}

static int restore(struct dl_phdr_info *info, size_t size, void *result) {
    (void)size, (void)result;
    uint64_t signals = lock_take(LOCK_SLEDS);
    struct sled_module *module = sled_module_at(info, 0);
    if (module && module->is_prepared && close_module(module) == 0) sled_stubs_restore(module);
    lock_give(LOCK_SLEDS, signals);
    return 0;
}

int sleds_forget_all(void) {
    if (sled_module_known(0) && loader_modules(restore, NULL, LOADER_NOW) < 0) return 0;
    sled_modules_forget();
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
        if (is_end(sled) != functions->ends || !sled_open(sled)) continue;
        closes += marked[i] = (uint8_t)is_one_of(function_of(sled), functions);
    }
    if (closes && sleds_close_marked(module, marked) < 0) {
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
    struct sled_module *module = sled_module_at(info, 0);
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

#else

void sleds_scan(void) {}
int sleds_open_all(void) { return 1; }
int sleds_close_all(void) { return 1; }
void sleds_heed(void) {}
int sleds_forget_all(void) { return 1; }
int sleds_wait(void) { return 0; }
void sleds_begin(void) {}
int sleds_look(void) { return 0; }
int sleds_close_functions(const uintptr_t *functions, uint32_t count) { return (void)functions, (void)count, 1; }
int sleds_close_ends(const uintptr_t *functions, uint32_t count) { return (void)functions, (void)count, 1; }
void sleds_forget(uintptr_t low, uintptr_t high) { (void)low, (void)high; }

#endif

FATHOM_WITHOUT_HOOKS_END
