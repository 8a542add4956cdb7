// The functions that options name. The recorder, who knows names, tells their addresses by a file (CTraceFunctions.h).
// What is found there of this process's modules is copied into memory of the process, where the hooks look it up.

#include "functions.h"

#include "../host/runtime.h"
#include "../host/text.h"
#include "arguments.h"
#include "detours.h"
#include "metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

FATHOM_WITHOUT_HOOKS

// How long a process waits for an answer. A recorder that reads the symbols of a large program takes a second or two.
#define PATIENCE 5000000000ull  // ns
// The same for first calls and detours, for which all of the code has to be decoded, and nothing is recorded without.
#define LONG_PATIENCE 60000000000ull
#define LOOK 50000000ull  // ns until the process looks whether the recorder is still there
#define LEAST 64u         // words of the first table
#define SAYS_OF_CALLS ((1u << FATHOM_SAYS_BITS) - 1)
#define GONE 1ull  // in place of the word of a function that is gone: no function has address 0

static const struct function_words none = {.shift = 63, .mask = 0, .words = {0}};

struct named_functions named_functions = {.words = &none};
static struct fathom_functions *file;
static uint32_t is_patient;  // the recorder has not failed to answer yet

// The table that modules' functions are put into: the one that hooks look into or, where it is being made anew, the one
// that they will look into.
static const struct function_words *table = &none;
static uint32_t used;  // its words that are not 0
static uint32_t is_changing;

// ---- the table

static void put(struct function_words *words, uint64_t word) {
    uint64_t place = (word >> FATHOM_SAYS_BITS) * 0x9e3779b97f4a7c15ull >> words->shift;
    for (;; place++) {
        uint64_t *entry = &words->words[place & words->mask];
        uint64_t known = *entry;
        if (known > GONE && known >> FATHOM_SAYS_BITS != word >> FATHOM_SAYS_BITS) continue;
        if (!known) used++;
        // Relaxed: a lookup needs nothing but the word, and lists of their own hold what else belongs to a function.
        __atomic_store_n(entry, word, __ATOMIC_RELAXED);
        return;
    }
}

// Makes room for `count` more words: a table is at most a quarter full, so that most lookups are of one cache line. The
// old table stays mapped, because a hook may be looking into it; all of them together are no larger than the new one,
// unless modules come and go at ever new addresses.
static int make_room(size_t count) {
    const struct function_words *old = table;
    uint64_t room = LEAST, kept = 0;
    if (old != &none && (used + count) * 4 <= old->mask + 1ull) return 1;
    for (uint64_t i = 0; i <= old->mask; i++) kept += old->words[i] > GONE;
    uint32_t bits = 6;
    for (; room < (kept + count) * 8; room *= 2) bits++;
    if (bits > 30) return 0;
    struct function_words *words = system_allocate(sizeof *words + room * sizeof *words->words);
    if (!words) return 0;
    words->shift = 64 - bits;
    words->mask = (uint32_t)room - 1;
    used = 0;
    for (uint64_t i = 0; i <= old->mask; i++)
        if (old->words[i] > GONE) put(words, old->words[i]);
    table = words;
    // Release: whoever finds the table finds what is in it.
    if (!is_changing) __atomic_store_n(&named_functions.words, table, __ATOMIC_RELEASE);
    return 1;
}

void functions_forget(uintptr_t low, uintptr_t high) {
    if (!file) return;
    entries_forget(low, high);
    detours_forget(low, high);
    struct function_words *words = (struct function_words *)table;
    for (uint64_t i = 0; i <= words->mask && words != &none; i++) {
        uintptr_t function = words->words[i] >> FATHOM_SAYS_BITS;
        // Relaxed: nobody calls a function that is gone, so nobody looks for its word.
        if (function >= low && function < high) __atomic_store_n(&words->words[i], GONE, __ATOMIC_RELAXED);
    }
}

// ---- names of functions with marks

// One block for each module that has such functions. The newest comes first.
struct marks {
    const struct marks *next;
    uintptr_t bias;
    size_t size;
    char names[];  // struct fathom_function_name
};
static const struct marks *all_marks;

static void keep_marks(uintptr_t bias, const char *names, size_t size) {
    struct marks *marks = size ? system_allocate(sizeof *marks + size) : NULL;
    if (!marks) return;
    *marks = (struct marks){.next = all_marks, .bias = bias, .size = size};
    __builtin_memcpy(marks->names, names, size);
    // Release: whoever finds the block finds what is in it.
    __atomic_store_n(&all_marks, marks, __ATOMIC_RELEASE);
}

uint32_t functions_mark(uintptr_t function) {
    // Acquire: another thread may have added the block a moment ago.
    for (const struct marks *marks = __atomic_load_n(&all_marks, __ATOMIC_ACQUIRE); marks; marks = marks->next) {
        struct fathom_function_name name;
        for (size_t at = 0; at + sizeof name <= marks->size; at += sizeof name + ((name.size + 7ul) & ~7ul)) {
            __builtin_memcpy(&name, marks->names + at, sizeof name);
            size_t size = name.size;
            if (size > FATHOM_NAME_LIMIT || size > marks->size - at - sizeof name) break;
            if (name.address + marks->bias != function) continue;
            char text[FATHOM_NAME_LIMIT + 1];
            __builtin_memcpy(text, marks->names + at + sizeof name, size);
            text[size] = 0;
            return name_intern(FATHOM_NAME_MARK, text);
        }
    }
    return 0;
}

// ---- the file

// The path of a file of the session with functions; 0: the recorder's own. NULL where it is too long.
static const char *path_of(uint32_t number) {
    static char path[PATH_SIZE];  // the thread's stack may be small
    char digits[10];
    size_t size = text_length(runtime.path) - (sizeof "/buffers" - 1), count = 0;
    if (size + sizeof "/functions." + sizeof digits > sizeof path) return NULL;
    __builtin_memcpy(path, runtime.path, size);
    __builtin_memcpy(path + size, "/functions", sizeof "/functions");
    size += sizeof "/functions" - 1;
    for (uint32_t rest = number; rest; rest /= 10) digits[count++] = (char)('0' + rest % 10);
    if (count) path[size++] = '.';
    while (count) path[size++] = digits[--count];
    path[size] = 0;
    return path;
}

// Which one is mapped, and its inode.
static uint32_t file_number;
static uint64_t file_inode;

// NULL when it cannot be mapped.
static struct fathom_functions *map_file(uint32_t number) {
    const char *path = path_of(number);
    long descriptor = path ? system_open_session(path) : -1;
    if (descriptor < 0) return NULL;
    struct fathom_functions *mapped = NULL;
    if (system_size(descriptor) >= FATHOM_FUNCTIONS_HEAD)
        mapped = system_map_file(descriptor, 0, FATHOM_FUNCTIONS_HEAD);
    uint64_t inode = system_inode(descriptor);
    system_close(descriptor);
    if (mapped && (mapped->magic != FATHOM_FUNCTIONS_MAGIC || mapped->version != FATHOM_FUNCTIONS_VERSION ||
                   mapped->head_size != FATHOM_FUNCTIONS_HEAD)) {
        system_free(mapped, FATHOM_FUNCTIONS_HEAD);
        mapped = NULL;
    }
    if (mapped) file_number = number, file_inode = inode;
    return mapped;
}

int functions_have_detours(void) { return file && file->says & FATHOM_SAYS_DETOURS; }
int functions_are_entries(void) { return file && file->says & FATHOM_SAYS_FIRST_CALL; }

int functions_open(void) {
    file = map_file(0);
    if (!file) return 0;
    is_patient = 1;
    // Where functions get detours and nothing else is said of any, all calls are recorded.
    if (file->says & SAYS_OF_CALLS) runtime.options.slow = 1;
    // The hooks have no part in it.
    if (functions_are_entries()) return 1;
    named_functions.levels = file->levels;
    named_functions.does = file->trigger_does;
    named_functions.triggers = file->triggers;
    named_functions.condition_ticks = file->condition_ticks;
    if (file->says & (FATHOM_SAYS_ARGUMENTS | FATHOM_SAYS_RESULTS)) arguments_open(file->text_limit);
    named_functions.says = file->says & SAYS_OF_CALLS;
    return 1;
}

void functions_close(void) {
    if (table != &none) system_free((void *)table, sizeof *table + (table->mask + 1ull) * sizeof *table->words);
    for (const struct marks *marks = all_marks, *next; marks; marks = next) {
        next = marks->next;
        system_free((void *)marks, sizeof *marks + marks->size);
    }
    if (file) system_free(file, FATHOM_FUNCTIONS_HEAD);
    named_functions = (struct named_functions){.words = &none};
    table = &none;
    all_marks = NULL;
    file = NULL;
    used = is_changing = 0;
    arguments_close();
}

int functions_begin_change(uint32_t number) {
    struct fathom_functions *next = map_file(number);
    if (!next) return 0;
    // The file before stays mapped: threads may still go by its triggers.
    file = next;
    table = &none;
    used = 0;
    is_changing = 1;
    return 1;
}

// What a thread has decided by the functions before, it decides anew when it takes up the change (follow/pause.c).
// Until then it may take a limit of one file for that of the other, for a call or two.
void functions_end_change(void) {
    is_changing = 0;
    // Release: whoever finds the table finds what is in it.
    __atomic_store_n(&named_functions.words, table, __ATOMIC_RELEASE);
    named_functions.levels = file->levels;
    named_functions.does = file->trigger_does;
    named_functions.triggers = file->triggers;
    named_functions.condition_ticks = file->condition_ticks;
    fathom_store32(&named_functions.says, file->says & SAYS_OF_CALLS);
}

void functions_after_fork(void) {
    if (!is_changing) return;
    is_changing = 0;
    table = named_functions.words;
    used = 0;
    for (uint64_t i = 0; i <= table->mask; i++) used += table->words[i] != 0;
}

// The table of a module; 0 when there is none.
static int find_table(uint64_t key, struct fathom_function_table *found) {
    uint32_t count = fathom_load32(&file->table_count);
    for (uint32_t i = 0; i < count && i < FATHOM_TABLE_LIMIT; i++) {
        if (file->tables[i].key != key) continue;
        *found = file->tables[i];
        return 1;
    }
    return 0;
}

// Whether there is a recorder who can answer. In another namespace of processes, its id says nothing.
static int has_recorder(void) {
    uint32_t pid = fathom_load32(&runtime.buffers->recorder_pid);
    return pid && system_is_process(pid);
}

// Asks the recorder for a module. Returns the number of the request; 0 when there is no place for it.
static uint32_t ask(const char *build_id, size_t build_id_size, const char *path, size_t path_size) {
    struct fathom_function_request *request;
    if (build_id_size + path_size > sizeof request->text) return 0;
    uint32_t number = fathom_add32(&file->requested, 1) + 1;
    if (number - fathom_load32(&file->answered) > FATHOM_REQUEST_LIMIT) return 0;
    request = &file->requests[(number - 1) % FATHOM_REQUEST_LIMIT];
    request->build_id_size = (uint16_t)build_id_size;
    request->path_size = (uint16_t)path_size;
    __builtin_memcpy(request->text, build_id, build_id_size);
    __builtin_memcpy(request->text + build_id_size, path, path_size);
    fathom_store32(&request->number, number);  // release: the recorder finds the rest
    system_wake(&file->requested);
    return number;
}

static int await_table(uint64_t key, uint32_t number, struct fathom_function_table *found) {
    uint64_t begin = system_monotonic_ns();
    uint64_t patience = functions_are_entries() || functions_have_detours() ? LONG_PATIENCE : PATIENCE;
    for (;;) {
        uint32_t answered = fathom_load32(&file->answered);
        if (find_table(key, found)) return 1;
        // Answers come in order, so this one was given, and there was no room for it.
        if ((int32_t)(answered - number) >= 0) return 0;
        if (!has_recorder() || system_monotonic_ns() - begin > patience) break;
        system_await(&file->answered, answered, LOOK);
    }
    is_patient = 0;  // nobody waits for this recorder any more
    return 0;
}

// What lies in the file after the head, up to `end`. Mapping needs no descriptor as a rule, so that it is no matter
// which files a program can still open.
static char *map_tables(size_t end) {
    size_t size = end - FATHOM_FUNCTIONS_HEAD;
    char *mapped = system_map_following((char *)file + FATHOM_FUNCTIONS_HEAD, size);
    const char *path = mapped ? NULL : path_of(file_number);
    return path ? system_map_anew(path, file_inode, FATHOM_FUNCTIONS_HEAD, size) : mapped;
}

static int copy_table(uintptr_t bias, const struct texts *texts, const struct fathom_function_table *found) {
    uint64_t size = found->words * sizeof(uint64_t), names = size + found->names_size;
    uint64_t arguments = names + found->arguments_size;
    uint64_t all = arguments + found->detours * sizeof(struct fathom_detour);
    if (found->words == FATHOM_TABLE_UNKNOWN) return 0;
    if (!all) return 1;
    if (found->offset < FATHOM_FUNCTIONS_HEAD || all > 1u << 30 || found->offset > 1ull << 40) return 0;
    size_t end = (size_t)((found->offset + all + PAGE_SIZE - 1) & ~(PAGE_SIZE - 1));
    char *mapped = map_tables(end);
    if (!mapped) return 0;
    const char *bytes = mapped + (found->offset - FATHOM_FUNCTIONS_HEAD);
    if (functions_are_entries()) {
        int is_armed = 1;
        for (uint32_t i = 0; i < texts->count; i++) is_armed &= entries_arm(bias, bytes, found->words, texts->parts[i]);
        system_free(mapped, end - FATHOM_FUNCTIONS_HEAD);
        return is_armed;
    }
    int has_room = make_room(found->words);
    for (uint32_t i = 0; has_room && i < found->words; i++) {
        uint64_t word;
        __builtin_memcpy(&word, bytes + i * sizeof word, sizeof word);
        put((struct function_words *)table, word + ((uint64_t)bias << FATHOM_SAYS_BITS));
    }
    if (has_room) keep_marks(bias, bytes + size, found->names_size);
    if (has_room) arguments_keep(bias, bytes + names, found->arguments_size);
    if (found->detours) detours_add(bias, texts, bytes + arguments, found->detours);
    system_free(mapped, end - FATHOM_FUNCTIONS_HEAD);
    return has_room;
}

int functions_of_module(uintptr_t bias, const struct texts *texts, const char *build_id, size_t build_id_size,
                        const char *path, size_t path_size) {
    if (!file) return 1;
    uint64_t key = fathom_module_key(build_id, build_id_size, path, path_size);
    struct fathom_function_table found;
    if (!find_table(key, &found)) {
        uint32_t number =
            !file->is_final && is_patient && has_recorder() ? ask(build_id, build_id_size, path, path_size) : 0;
        if (!number || !await_table(key, number, &found)) return 0;
    }
    return copy_table(bias, texts, &found);
}

FATHOM_WITHOUT_HOOKS_END
