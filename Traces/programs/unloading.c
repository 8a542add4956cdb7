// The C library unloads a library of its own accord at the worst moment: when a list of what is loaded was just read.
// With PRELOADED, this is the library that reads it: it stands behind the runtime.
//   unloading LIBRARY

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>

#include "program.h"

#ifdef PRELOADED
extern void *library __attribute__((weak));  // the program's; others have none

typedef int each(struct dl_phdr_info *, size_t, void *);

// What the C library itself calls to unload one: nobody stands before it.
static void unload(void) {
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    int (*close)(void *) = (int (*)(void *))dlsym(libc, "dlclose");
    void *gone = library;
    library = NULL;
    close(gone);
}

int dl_iterate_phdr(each *body, void *data) {
    int (*next)(each *, void *) = (int (*)(each *, void *))dlsym(RTLD_NEXT, "dl_iterate_phdr");
    int result = next(body, data);
    if (&library && library) unload();
    return result;
}
#else
#define ARENA (16u << 20)

static _Alignas(16) unsigned char arena[ARENA];
static size_t used;

// What is freed keeps what is written there: the name of a library that is gone can still be read.
QUIET void *malloc(size_t size) {
    size_t at = __atomic_fetch_add(&used, (size + 31) & ~(size_t)15, __ATOMIC_RELAXED);
    return at + size + 32 > ARENA ? NULL : &arena[at + 16];
}
QUIET void free(void *block) { KEEP(block); }
QUIET void *calloc(size_t count, size_t size) { return malloc(count * size); }

void *library;

APART static void leaf(int n) { KEEP(n); }

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    leaf(0);
    library = dlopen(argv[1], RTLD_NOW);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    leaf(1);
    leaf(2);
    puts(library ? "never read" : "unloaded");
}
#endif
