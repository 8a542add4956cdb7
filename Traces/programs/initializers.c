// Initialisers of every kind, and a look at the program's memory once they have run: where the dynamic linker keeps the
// addresses of initialisers, each must be one in its own module, and what it made read-only must still be so. Prints
// "as it should be", or what is wrong.

#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char order[16];
static size_t steps;
static int is_wrong;

static void step(char letter, int count, char **arguments, char **environment) {
    if (steps + 1 < sizeof order) order[steps++] = letter;
    if (count < 1 || !arguments || !arguments[0] || !environment || arguments[count + 1] != environment[0]) {
        // The environment begins behind the arguments' NULL.
        if (arguments && (char **)(arguments + count + 1) != environment) is_wrong = 1;
    }
}

static void before(int count, char **arguments, char **environment) { step('p', count, arguments, environment); }
__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **, char **) = before;

__attribute__((constructor(101))) static void early(int count, char **arguments, char **environment) {
    step('e', count, arguments, environment);
}
__attribute__((constructor)) static void late(int count, char **arguments, char **environment) {
    step('l', count, arguments, environment);
}

// Whether the page of an address can be written to, as the kernel says.
static int is_writable(unsigned long address) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int result = -1;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char protection[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, protection) == 3 && from <= address && address < to)
            result = protection[1] == 'w';
    }
    if (maps) fclose(maps);
    return result;
}

static int is_in(const struct dl_phdr_info *module, unsigned long address) {
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && address - module->dlpi_addr - header->p_vaddr < header->p_memsz) return 1;
    }
    return 0;
}

static void check(const struct dl_phdr_info *module, const char *what, unsigned long address) {
    if (is_in(module, address)) return;
    printf("%s: an address of %s is not its own\n", module->dlpi_name, what);
    is_wrong = 1;
}

static int look(struct dl_phdr_info *module, size_t size, void *unused) {
    (void)size, (void)unused;
    const ElfW(Dyn) *dynamic = NULL;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[i];
        unsigned long start = module->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)start;
        if (header->p_type == PT_GNU_RELRO && header->p_memsz >= 4096 && is_writable(start & ~4095ul) == 1) {
            printf("%s: what was read-only can be written to\n", module->dlpi_name);
            is_wrong = 1;
        }
    }
    unsigned long *array = NULL, bytes = 0;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_INIT) check(module, "DT_INIT", module->dlpi_addr + dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_INIT_ARRAY) array = (unsigned long *)(module->dlpi_addr + dynamic->d_un.d_ptr);
        if (dynamic->d_tag == DT_INIT_ARRAYSZ) bytes = dynamic->d_un.d_val;
    }
    for (unsigned long i = 0; array && i < bytes / sizeof *array; i++) check(module, "DT_INIT_ARRAY", array[i]);
    return 0;
}

int main(int count, char **arguments) {
    if (count != 3 || strcmp(arguments[1], "one")) is_wrong = 1;
    dl_iterate_phdr(look, NULL);
    if (strcmp(order, "pel")) printf("initialisers ran in the order %s\n", order), is_wrong = 1;
    puts(is_wrong ? "wrong" : "as it should be");
    return is_wrong;
}
