// Swift's tasks. What runs of a task between two suspensions is an ordinary call of the executor's thread. Where such a
// piece begins, a record says which task it belongs to and which asynchronous calls led there, so that a reader can
// join the pieces.
//
// The compiler passes the asynchronous context in a register of its own. The context's first word is the caller's
// context. Its second word is the function that the caller goes on with (swift/ABI/Task.h, AsyncContext; the layout is
// part of the ABI).

#include "tasks.h"

#include "../record/put.h"
#include "../session/modules.h"
#include "CTraceRuntimeHostSymbols.h"

#include <link.h>

FATHOM_WITHOUT_HOOKS

// Offsets by swift/ABI/Task.h, class Job and AsyncTask.
#define TASK_ID 36u
#define TASK_RESUME_FUNCTION 56u  // and its context, the next word

#define KNOWN_LIMIT 4096u     // a power of two
#define RUN_SIZE 1024u        // the function that runs jobs takes no more
#define FUNCTION_REACH 4096u  // a function's hook is not further from its start

struct task_code task_code;
static void *(*current_task)(void);

// Places where the register was seen to hold a context. The compiler decided which variable it holds at a place that is
// reached from another given place. So once a context was seen there, there always is one.
static uint64_t known[KNOWN_LIMIT];

static int find_library(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    uintptr_t address = (uintptr_t)current_task, low, high;
    symbols_span(info, &low, &high);
    uintptr_t product = *(uintptr_t *)data;
    if (address < low || address >= high) return 0;
    if (product < low || product >= high) {
        task_code.low = low;
        task_code.size = high - low;
    }
    return 1;
}

EXPORT void fathom_swift_tasks(void *(*current)(void), void *run) {
    uintptr_t product = (uintptr_t)__builtin_return_address(0);
    if (!current || task_code.size) return;
    current_task = current;
    loader_modules(find_library, &product, LOADER_PATIENCE);
    if (!task_code.size && run) {
        task_code.low = (uintptr_t)run;
        task_code.size = RUN_SIZE;
    }
    task_code.guard = -(intptr_t)(task_code.size != 0);
}

// Whether the address is a context: callers' contexts lead from it to a task's first one, and each has code to go on
// with, in a module that the runtime knows. Other memory may well begin like a context, but what is taken for one here
// is from then on followed without being checked. An address that is no context is found out anew each time. That takes
// nothing where the address is not aligned; one system call (under a microsecond) where it cannot be read; and one
// system call for each link, and the lock, where it can.
static int is_context(uintptr_t context) {
    uintptr_t code[FATHOM_TASK_DEPTH_LIMIT];
    uint32_t count = 0;
    while (context && count < FATHOM_TASK_DEPTH_LIMIT) {
        const uintptr_t *words = (const uintptr_t *)context;
        // Both words are on one page, because they are aligned to 16.
        if (context & 15 || !system_is_readable((const void *)context)) return 0;
        code[count++] = words[1];
        context = words[0];
    }
    return count && modules_hold(code, count);
}

static int holds_context(uintptr_t function, uintptr_t call_site, uintptr_t context) {
    // Fibonacci hashing. A wrong hit would have to agree in 52 bits.
    uint64_t key = (function ^ call_site << 24 ^ call_site >> 40) * 0x9e3779b97f4a7c15ull | 1;
    uint64_t *slot = &known[key >> 52 & (KNOWN_LIMIT - 1)];
    // Relaxed, here and below: nothing else depends on the word.
    if (__atomic_load_n(slot, __ATOMIC_RELAXED) == key) return 1;
    if (!is_context(context)) return 0;
    __atomic_store_n(slot, key, __ATOMIC_RELAXED);
    return 1;
}

int task_piece_begins(const struct frame *caller, const struct frame *call) {
    if (!task_runs_from(call->call_site)) return 0;
    // Code that was inlined into a piece has the piece's call site, too.
    return !(caller->function && caller->call_site == call->call_site && frame_sp(caller) == frame_sp(call));
}

static long ask_for_task(void *unused) {
    (void)unused;
    return (long)current_task();
}

void task_put(struct thread *t, uintptr_t context) {
    uintptr_t function = t->top->function, call_site = t->top->call_site;
    const char *task = (const char *)foreign_call(ask_for_task, NULL);
    if (!task) return;
    struct fathom_task record = {0};
    __builtin_memcpy(&record.task, task + TASK_ID, sizeof record.task);
    uintptr_t resume[2];
    __builtin_memcpy(resume, task + TASK_RESUME_FUNCTION, sizeof resume);
    record.resume = (uint16_t)((resume[0] ^ resume[1] << 20) * 0x9e3779b97f4a7c15ull >> 48);
    if (holds_context(function, call_site, context)) {
        if (resume[1] == context && function - resume[0] < FUNCTION_REACH) record.flags = FATHOM_TASK_RESUMED;
        for (const uintptr_t *link = (const uintptr_t *)context; link && record.depth < FATHOM_TASK_DEPTH_LIMIT;
             link = (const uintptr_t *)link[0]) {
            if (record.depth < FATHOM_TASK_CONTEXTS) record.contexts[record.depth] = (uintptr_t)link;
            record.depth++;
        }
    }
    put_task(t, &record);
}

FATHOM_WITHOUT_HOOKS_END
