// Has an allocator of its own, whose slow path holds a lock, is where the program is nearly all of the time, and is
// jumped to: nobody finds `malloc` on the stack. Whoever allocates in that thread meanwhile waits for ever. It goes
// round until SIGTERM comes.

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#define QUIET __attribute__((no_instrument_function))

static volatile int over, lock;
static char memory[1 << 24];
static size_t used;
volatile long rounds;

__attribute__((noinline)) void leaf(void) { rounds++; }

QUIET static void take(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) {
    }
}
QUIET static void give(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

QUIET __attribute__((noinline)) static void *refill(size_t size) {
    take();
    struct timespec now, begin;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do clock_gettime(CLOCK_MONOTONIC, &now);
    while (!over && (now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 20000000);
    size_t at = used;
    used = (used + size + 31) & ~(size_t)15;
    if (used > sizeof memory) used = at = 0;
    *(size_t *)(memory + at) = size;
    give();
    return memory + at + 16;
}

QUIET void *malloc(size_t size) { return refill(size); }
QUIET void free(void *block) {
    if (!block) return;
    take();
    give();
}
QUIET void *calloc(size_t count, size_t size) {
    void *block = malloc(count * size);
    return memset(block, 0, count * size);
}
QUIET void *realloc(void *block, size_t size) {
    void *other = malloc(size);
    if (block) memcpy(other, block, ((size_t *)block)[-2] < size ? ((size_t *)block)[-2] : size);
    return other;
}

QUIET static void end(int signal) {
    (void)signal;
    over = 1;
}

int main(void) {
    struct timespec rest = {0, 1000000};
    signal(SIGTERM, end);
    while (!over) {
        leaf();
        free(malloc(100));
        nanosleep(&rest, NULL);
    }
    return 0;
}
