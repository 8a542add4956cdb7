// Loads a library in whose loading the first hooks come from inside: of its own malloc, or of a signal's handler. Then
// calls the library and dies.
//   loading malloc|handler LIBRARY

#include <dlfcn.h>
#include <signal.h>
#include <string.h>

#include "program.h"

#define ARENA (16u << 20)

static _Alignas(16) unsigned char arena[ARENA];
static size_t used;
static volatile int is_loading;  // 1: malloc is traced, 2: it raises a signal

APART static void traced(size_t size) { KEEP(size); }

static void handler(int number) { traced((size_t)number); }

QUIET void *malloc(size_t size) {
    if (is_loading == 1) traced(size);
    if (is_loading == 2) raise(SIGUSR1);
    size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
    return at + size + 32 > ARENA ? NULL : &arena[at + 16];
}
QUIET void free(void *block) { KEEP(block); }
QUIET void *calloc(size_t count, size_t size) { return malloc(count * size); }

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    signal(SIGUSR1, handler);
    traced(0);
    is_loading = strcmp(argv[1], "handler") ? 1 : 2;
    void *library = dlopen(argv[2], RTLD_NOW);
    is_loading = 0;
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    int (*run)(int) = (int (*)(int))dlsym(library, "plugin_run");
    for (int i = 0; i < 100; i++) run(i);
    raise(SIGKILL);
}
