// Loads and unloads libraries in turn, a hundred times, so that one takes the addresses the other had.
//   dlreopen LIBRARY LIBRARY...       with dlopen
//   dlreopen -m LIBRARY               with dlmopen, in a namespace of its own

#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "program.h"

APART static int use(void *library) {
    int (*run)(int) = (int (*)(int))dlsym(library, "plugin_run");
    return run(3);
}

int main(int argc, char **argv) {
    int separate = argc > 1 && !strcmp(argv[1], "-m"), sum = 0, moves = 0;
    void *address = NULL;
    char **libraries = argv + 1 + separate;
    int count = argc - 1 - separate;
    if (count == 0) return 64;
    for (int i = 0; i < (separate ? 5 : 100); i++) {
        const char *path = libraries[i % count];
        void *library = separate ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) : dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
        void *run = dlsym(library, "plugin_run");
        if (address && run != address) moves++;
        address = run;
        sum += use(library);
        dlclose(library);
    }
    printf("sum %d\n", sum);
    FILE *truth = truth_open();
    if (truth) {
        fprintf(truth, "moves %d\n", moves);
        fclose(truth);
    }
}
