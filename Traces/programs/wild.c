// wild WHERE SEED: calls functions in two threads while a third writes over the session's buffers as a program with a
// wild pointer would. WHERE: head, words, headers, payloads, all, or none. Says how many calls there were.
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CTraceFormat.h"
#include "program.h"

#define ROUNDS 4000

static uint64_t state;
static volatile int ended;

QUIET static uint64_t next(void) {  // xorshift64*, S. Vigna 2016
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 2685821657736338717ull;
}

QUIET static uint64_t value(void) {
    static const uint64_t extremes[] = {0, UINT64_MAX, 1ull << 63, UINT32_MAX, 1, INT64_MAX, 0x4b4e4843, 3};
    return next() % 2 ? next() : extremes[next() % 8];
}

// Writes 1 to 16 bytes of `value` at a random place of [start, start + size).
QUIET static void scribble(char *start, size_t size) {
    uint64_t bytes[2] = {value(), value()};
    size_t length = 1ull << next() % 5, offset = next() % size & ~(length - 1);
    if (offset + length <= size) memcpy(start + offset, bytes, length);
}

QUIET static int place(const char *name) {
    static const char *const names[] = {"head", "words", "headers", "payloads"};
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, names[i])) return i;
    return strcmp(name, "all") ? -1 : (int)(next() % 4);
}

QUIET static void *write_wildly(void *where) {
    char path[4096];
    snprintf(path, sizeof path, "%s/buffers", getenv("FATHOM_SESSION") ? getenv("FATHOM_SESSION") : "");
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    struct fathom_buffers head;
    struct stat file;
    if (descriptor < 0 || fstat(descriptor, &file) || read(descriptor, &head, sizeof head) != sizeof head) return NULL;
    // A program has no second mapping of all: a wild pointer hits what its own runtime has mapped.
    size_t size = head.slots_offset + 8ull * head.slot_size;
    char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    while (bytes != MAP_FAILED && !ended) {
        int kind = place(where);
        char *slot = bytes + head.slots_offset + next() % 8 * head.slot_size;
        if (kind == 0) scribble(bytes, sizeof head);
        if (kind == 1) scribble(bytes + head.words_offset, 64);
        // Of slots in use: a page that nobody has allocated may have no room.
        uint64_t word = 0;
        memcpy(&word, slot, sizeof word);
        if (kind == 2 && word) scribble(slot, sizeof(struct fathom_chunk));
        if (kind == 3 && word) scribble(slot + sizeof(struct fathom_chunk), 8192);
        usleep((useconds_t)(next() % 300));
    }
    return NULL;
}

APART static void leaf(int i) { KEEP(i); }

APART static void branch(int i) {
    for (int j = 0; j < 9; j++) leaf(i + j);
}

static void *work(void *unused) {
    for (int i = 0; i < ROUNDS; i++) {
        branch(i);
        if (i % 64 == 0) usleep(50);
    }
    return unused;
}

QUIET int main(int count, char **arguments) {
    if (count < 3) return 64;
    state = strtoull(arguments[2], NULL, 10) * 0x9e3779b97f4a7c15ull + 1;
    pthread_t wild, worker;
    pthread_create(&wild, NULL, write_wildly, arguments[1]);
    pthread_create(&worker, NULL, work, NULL);
    work(NULL);
    pthread_join(worker, NULL);
    ended = 1;
    pthread_join(wild, NULL);
    printf("%d\n", 2 * (1 + ROUNDS * 10));
    return 7;
}
