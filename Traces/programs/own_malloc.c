// Allocates memory by functions of its own, which stand before those of the C library.

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static char memory[1 << 20];
static size_t used;

__attribute__((no_instrument_function)) void *malloc(size_t size) {
    size = (size + 15) / 16 * 16;
    if (size > sizeof memory - used) return NULL;
    used += size;
    return memory + used - size;
}

__attribute__((no_instrument_function)) void free(void *block) { (void)block; }

__attribute__((no_instrument_function)) void *calloc(size_t count, size_t size) {
    void *block = malloc(count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

__attribute__((no_instrument_function)) void *realloc(void *block, size_t size) {
    void *copy = malloc(size);
    if (copy && block) memmove(copy, block, size);
    return copy;
}

__attribute__((noinline)) static char *allocate(void) { return strdup("own"); }

int main(void) {
    char *text = allocate();
    printf("%s %d\n", text, text >= memory && text < memory + sizeof memory);
    return 0;
}
