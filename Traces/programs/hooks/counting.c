// Counts the calls of every instrumented function, independently of any tracer: the oracle of the end-to-end tests.
//
//   gcc -O2 -shared -fPIC -o libcounting.so counting.c
//   COUNTS=file LD_PRELOAD=./libcounting.so program
//
// `file` becomes a table of struct entry, shared by the program and every process it starts, and complete at every
// moment: nothing has to happen at the end. Safe in threads, signal handlers, fork's and vfork's children.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES 16384u
#define EARLY 256u

struct entry {
    uint64_t key;      // 0 while unused
    uint64_t address;  // in the file
    uint64_t enters, exits;
    char module[224];  // path of the file
};

static struct entry *table;
static char program[224];

// Calls made before the constructor could run (IFUNC resolvers, other constructors), looked up when it does.
static struct {
    void *function;
    int exit;
} early[EARLY];
static unsigned early_count;

static void count(void *function, int exit) {
    struct dl_find_object object;
    if (_dl_find_object(function, &object)) return;
    const char *module = object.dlfo_link_map->l_name;
    if (!*module) module = program;
    uint64_t address = (uint64_t)function - object.dlfo_link_map->l_addr;
    uint64_t key = 0xcbf29ce484222325ull ^ address * 0x9e3779b97f4a7c15ull;  // FNV-1a over the path, from the address
    for (const char *p = module; *p; p++) key = (key ^ (unsigned char)*p) * 0x100000001b3ull;
    if (!key) key = 1;
    for (uint64_t i = key % ENTRIES, tries = 0; tries < ENTRIES; i = (i + 1) % ENTRIES, tries++) {
        struct entry *entry = &table[i];
        uint64_t found = 0;
        if (__atomic_compare_exchange_n(&entry->key, &found, key, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            entry->address = address;
            for (unsigned k = 0; k < sizeof entry->module - 1 && module[k]; k++) entry->module[k] = module[k];
        } else if (found != key) {
            continue;
        }
        __atomic_fetch_add(exit ? &entry->exits : &entry->enters, 1, __ATOMIC_RELAXED);
        return;
    }
}

static void note(void *function, int exit) {
    if (table) {
        count(function, exit);
    } else if (early_count < EARLY) {
        early[early_count].function = function;
        early[early_count++].exit = exit;
    }
}

void __cyg_profile_func_enter(void *function, void *call_site) {
    (void)call_site;
    note(function, 0);
}

void __cyg_profile_func_exit(void *function, void *call_site) {
    (void)call_site;
    note(function, 1);
}

__attribute__((constructor(101))) static void start(void) {
    const char *path = getenv("COUNTS");
    if (!path) return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) strcpy(program, "?");
    size_t size = ENTRIES * sizeof(struct entry);
    void *memory = MAP_FAILED;
    if (!ftruncate(file, size)) memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (memory == MAP_FAILED) return;
    table = memory;
    for (unsigned i = 0; i < early_count; i++) count(early[i].function, early[i].exit);
}
