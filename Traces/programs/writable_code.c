// Makes its own code writable, as programs do that change themselves, calls a small function often, and looks after
// each round whether its code can still be written to.

#include <sys/mman.h>

#include "program.h"

static volatile long count;

APART static void small(void) { count++; }
APART static void changed(void) { count += 2; }

QUIET static int is_writable(uintptr_t address) {
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], rights[5] = "";
    unsigned long low, high;
    int found = 0;
    while (!found && maps && fgets(line, sizeof line, maps))
        found = sscanf(line, "%lx-%lx %4s", &low, &high, rights) == 3 && address >= low && address < high;
    if (maps) fclose(maps);
    return rights[1] == 'w';
}

int main(void) {
    uintptr_t page = (uintptr_t)changed & ~4095ul;
    if (mprotect((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC)) return 64;
    int writable = 1;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 100000; i++) small();
        writable &= is_writable(page);
    }
    changed();
    printf("writable %d\n", writable);
}
