// What a program tells the runtime through fathom.h, by way of the table that the header finds by its name.

#include "fathom.h"

#include "../follow/aside.h"
#include "../follow/process.h"
#include "../host/runtime.h"
#include "../record/chunk.h"
#include "../session/await.h"
#include "../session/metadata.h"
#include "../session/modules.h"

FATHOM_WITHOUT_HOOKS

// The stack pointer of the program's function. It is read at this very place: a compiler that moves it, with the rest,
// into a function for cold code would read that function's.
#define CALLER(sp)                                                                                                     \
    uintptr_t sp = CALLER_STACK_POINTER();                                                                             \
    __asm__ __volatile__("" : "+r"(sp))

static void tell(enum hook hook, uintptr_t sp) {
    struct event event = {.stack_pointer = sp, .hook = hook};
    aside_event(&event);
}

INTERNAL void tell_of(uint32_t record, uintptr_t sp, const void *payload, size_t size) {
    struct event event = {
        .stack_pointer = sp, .told = told_of(record, payload, size, TOLD_BY_PROGRAM), .hook = HOOK_TOLD};
    aside_event(&event);
}

// Whether the process can record, now or later. Makes it able to if it can.
static int is_ready(void) { return control_mode() == MODE_UNKNOWN ? runtime_ready() : control_mode() != MODE_OFF; }

static uint64_t ticks_of(uint64_t nanoseconds) {
    unsigned __int128 ticks = (unsigned __int128)nanoseconds * runtime.ticks_per_second / 1000000000u;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

static void start(void) {
    if (is_ready()) runtime_start();
}

static void start_with(uint32_t max_depth, uint64_t min_cost) {
    if (!is_ready()) return;
    uint64_t signals = lock_take(LOCK_CONTROL);
    if (control_mode() != MODE_UNKNOWN && control_mode() != MODE_OFF) {
        uint64_t min_cost_ticks = ticks_of(min_cost);
        uint32_t levels = max_depth == UINT32_MAX ? UINT32_MAX : max_depth + 1;
        int differs = runtime.options.max_depth != levels || runtime.options.min_cost_ticks != min_cost_ticks;
        if (differs && !runtime.options.keeps) {
            runtime.options.max_depth = levels;
            runtime.options.min_cost_ticks = min_cost_ticks;
            runtime.options.slow = 1;
            fathom_add32(&runtime.options.generation, 1);
        }
        runtime_set_running(1, now_ticks());
    }
    lock_give(LOCK_CONTROL, signals);
}

static void stop(void) {
    CALLER(sp);
    if (!is_ready()) return;
    runtime_stop();
    tell(HOOK_SETTLE, sp);
}

static void save(void) {
    CALLER(sp);
    if (!is_ready()) return;
    if (runtime.modules_stale) modules_scan(LOADER_NOW);
    tell(HOOK_SAVE, sp);
    metadata_finish();
    requests_save();
}

static void mark(const char *name) {
    CALLER(sp);
    if (control_mode() == MODE_PAUSED || !is_ready()) return;
    uint32_t id = name_intern(FATHOM_NAME_MARK, name);
    tell_of(FATHOM_MARK, sp, &id, sizeof id);
}

// The number comes in a vector register, which the rest of the runtime does not use.
void set_counter(const char *name, double value) __attribute__((visibility("hidden")));
__asm__(".pushsection .text.fathom_slow, \"ax\", %progbits\n"
        ".hidden set_counter\n.globl set_counter\n.type set_counter, %function\n.p2align 4\n"
        "set_counter:\n.cfi_startproc\n"
#if defined(__x86_64__)
        "movq %xmm0, %rsi\njmp set_counter_bits\n"
#else
        ".arch_extension fp\nfmov x1, d0\nb set_counter_bits\n"
#endif
        ".cfi_endproc\n.size set_counter, . - set_counter\n.popsection\n");

__attribute__((used, visibility("hidden"))) void set_counter_bits(const char *name, uint64_t bits) {
    CALLER(sp);
    if (control_mode() == MODE_PAUSED || !is_ready()) return;
    struct fathom_count count = fathom_counted(name_intern(FATHOM_NAME_COUNTER, name), bits);
    tell_of(FATHOM_COUNTER, sp, &count, sizeof count);
}

static void begin(const char *name) {
    CALLER(sp);
    uintptr_t call_site = (uintptr_t)__builtin_return_address(0);
    __asm__ __volatile__("" : "+r"(call_site));
    if (!is_ready()) return;
    uint64_t id = FATHOM_SCOPE_BASE | name_intern(FATHOM_NAME_SCOPE, name);
    aside_hook(id, call_site, sp, 0, HOOK_ENTER);
}

static void end(void) {
    CALLER(sp);
    if (is_ready()) tell(HOOK_SCOPE_END, sp);
}

static void name_thread(const char *name) {
    char kept[16] = {0};
    uint64_t signals = system_block_signals();
    size_t size = 0, room = sizeof kept - 1;
    while (size < room && name[size]) size++;
    if (name[size])
        while (size > 0 && ((unsigned char)name[size] & 0xc0) == 0x80) size--;
    __builtin_memcpy(kept, name, size);
    chunk_name(&current, kept);
    system_restore_signals(signals);
}

__attribute__((visibility("default"))) const struct fathom_api fathom_api_1 = {
    .size = sizeof(struct fathom_api),
    .start = start,
    .start_with = start_with,
    .stop = stop,
    .save = save,
    .mark = mark,
    .set_counter = set_counter,
    .begin = begin,
    .end = end,
    .name_thread = name_thread,
};

FATHOM_WITHOUT_HOOKS_END
