#include "loader.h"

#include "runtime.h"

#include <link.h>

FATHOM_WITHOUT_HOOKS

#define FORK_PATIENCE 10000000000ull  // ns

// Threads of the program that are in dl_iterate_phdr, or about to be; and threads that are in loader_modules. Whoever
// comes announces itself, and then looks whether others are there: sequentially consistent, so that one of two that
// come at once finds the other. The program then waits for the runtime, which is soon through, and the runtime gives
// up.
static uint32_t of_program, of_runtime;
// In a fork's child whose parent was in dl_iterate_phdr, on whatever thread: the list is perhaps locked for ever. The
// thread that forked has another id in the child, so the lock is not its own there.
static uint32_t is_lost;

static __thread struct {
    uint32_t depth;  // how often the thread is in dl_iterate_phdr
    uint32_t forks;
    uintptr_t stack_pointer;  // of the outermost one
} inside __attribute__((tls_model("initial-exec")));

static void add(uint32_t *count, uint32_t change) { __atomic_fetch_add(count, change, __ATOMIC_SEQ_CST); }
static uint32_t load(const uint32_t *count) { return __atomic_load_n(count, __ATOMIC_SEQ_CST); }

// A fork without the C library's handlers may have left a count behind, so nobody waits long.
static void await_runtime(uint64_t patience) {
    uint64_t begin = 0;
    for (uint32_t tries = 0; load(&of_runtime); tries++) {
        uint64_t now = system_monotonic_ns();
        if (!begin) begin = now;
        if (now - begin > patience) return;
        system_wait(tries);
    }
}

void fathom_list_begins(uintptr_t stack_pointer) {
    if (inside.depth++) return;
    inside.stack_pointer = stack_pointer;
    add(&of_program, 1);
    await_runtime(LOADER_PATIENCE);
}

void fathom_list_ends(void) {
    if (inside.depth && !--inside.depth) add(&of_program, -1u);
}

void loader_landed(uintptr_t stack_pointer) {
    if (!inside.depth || stack_pointer < inside.stack_pointer) return;
    inside.depth = 0;
    add(&of_program, -1u);
}

// Whether the thread may go through the list. A thread that is in dl_iterate_phdr has its lock already.
static int begin(uint64_t patience) {
    uint64_t since = 0;
    if (is_lost) return 0;
    if (inside.depth) return 1;
    for (uint32_t tries = 0;; tries++) {
        add(&of_runtime, 1);
        if (!load(&of_program)) return 1;
        add(&of_runtime, -1u);
        if (!patience) return 0;
        uint64_t now = system_monotonic_ns();
        if (!since) since = now;
        if (now - since > patience) return 0;
        system_wait(tries);
    }
}

struct search {
    fathom_look *look;
    void *result;
};

static int look(struct dl_phdr_info *info, size_t size, void *argument) {
    const struct search *search = argument;
    locks_note(LOCK_LIST, 1);
    int result = search->look(info, size, search->result);
    locks_note(LOCK_LIST, 0);
    return result;
}

static long search(void *argument) { return fathom_image.all_modules(look, argument); }

int loader_modules(fathom_look *wanted, void *result, uint64_t patience) {
    struct search all = {wanted, result};
    loader_touch_stack();
    uint64_t signals = system_block_signals();
    int is_inside = inside.depth != 0, found = -1;
    if (begin(patience)) {
        found = (int)foreign_call(search, &all);
        if (!is_inside) add(&of_runtime, -1u);
    }
    system_restore_signals(signals);
    return found;
}

unsigned long long loader_version(const struct dl_phdr_info *info, size_t size) {
    return size >= offsetof(struct dl_phdr_info, dlpi_tls_modid) ? info->dlpi_adds + info->dlpi_subs : 0;
}

int loader_is_free(void) { return !load(&of_runtime); }

// The threads that are waited for are this process's own, unless a fork without handlers has wiped the page of control.
// They may get no processor for long, and the child could not load anything as long as it lives.
void loader_before_fork(void) {
    inside.forks = 1;
    add(&of_program, 1);
    await_runtime(control_mode() == MODE_UNKNOWN ? LOADER_PATIENCE : FORK_PATIENCE);
}

void loader_after_fork(void) {
    if (inside.forks) add(&of_program, -1u);
    inside.forks = 0;
}

void loader_after_fork_in_child(void) {
    uint32_t own = inside.forks + (inside.depth != 0);
    if (load(&of_program) > own || load(&of_runtime) || inside.depth) is_lost = 1;
    of_program = own;
    of_runtime = 0;
}

FATHOM_WITHOUT_HOOKS_END
