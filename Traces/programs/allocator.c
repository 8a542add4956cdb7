// Brings its own malloc, which is traced: a tracer that allocated in its hooks, or let libc do so, would recurse.

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "program.h"

#define ARENA (64u << 20)

static _Alignas(16) unsigned char arena[ARENA];
static size_t used;

APART static void *carve(size_t size) {
    size = (size + 31) & ~(size_t)15;
    size_t at = __atomic_fetch_add(&used, size, __ATOMIC_RELAXED);
    if (at + size > ARENA) return NULL;
    memcpy(&arena[at], &size, sizeof size);
    return &arena[at + 16];
}

void *malloc(size_t size) { return carve(size); }

void free(void *block) { KEEP(block); }

void *calloc(size_t count, size_t size) { return carve(count * size); }

void *realloc(void *block, size_t size) {
    size_t old = 0;
    void *new = carve(size);
    if (block && new) {
        memcpy(&old, (unsigned char *)block - 16, sizeof old);
        memcpy(new, block, old - 16 < size ? old - 16 : size);
    }
    return new;
}

static void *body(void *argument) {
    for (int i = 0; i < 1000; i++) free(malloc((size_t)i));
    return argument;
}

int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, body, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    char *text = strdup("allocated");
    text = realloc(text, 100);
    puts(text);
}
