// Threads that end inside pthread_cleanup_push, by pthread_exit and by cancellation, at random depths: in C, their
// cleanup handlers are called from frames that nothing but the C library jumps to. Keeps its own true stack (truth.h).

#include <pthread.h>

#include "truth.h"

static uint64_t seed = 521288629u;
static long cleaned;

QUIET static unsigned pick(unsigned below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}

APART static void leaf(int level) {
    CALL(leaf);
    KEEP(level);
    RETURN;
}

// Handlers with a small and a large frame: addresses alone take the one for a callee of what was left, the other not.
APART static void clean(void *depth) {
    truth_depth = *(int *)depth;
    CALL(clean);
    cleaned++;
    leaf(0);
    RETURN;
}

APART static void clean_largely(void *depth) {
    truth_depth = *(int *)depth;
    CALL(clean_largely);
    char large[3000];
    KEEP(large);
    cleaned++;
    leaf(1);
    RETURN;
}

APART static void end(int level) {
    CALL(end);
    if (level % 2) pthread_exit(NULL);
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

static void walk(int level);

// Two handlers in one frame.
APART static void guard(int level) {
    CALL(guard);
    int depth = truth_depth;
    pthread_cleanup_push(clean, &depth);
    walk(level + 1);
    pthread_cleanup_push(clean_largely, &depth);
    walk(level + 1);
    pthread_cleanup_pop(pick(2));
    leaf(level);
    pthread_cleanup_pop(pick(2));
    RETURN;
}

APART static void guard_largely(int level) {
    CALL(guard_largely);
    int depth = truth_depth;
    char large[2000];
    KEEP(large);
    pthread_cleanup_push(clean_largely, &depth);
    walk(level + 1);
    pthread_cleanup_pop(0);
    RETURN;
}

APART static void walk(int level) {
    CALL(walk);
    for (unsigned calls = 1 + pick(3); calls; calls--) {
        switch (level > 30 ? 6 : pick(6)) {
        case 0: guard(level); break;
        case 1: guard_largely(level); break;
        case 2: leaf(level); break;
        case 6: end(level); break;
        default: walk(level + 1);
        }
    }
    RETURN;
}

APART static void *run(void *argument) {
    CALL(run);
    for (;;) walk(0);
    return argument;
}

QUIET int main(void) {
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        truth_depth = 0;
        if (pthread_create(&thread, NULL, run, NULL)) return 1;
        pthread_join(thread, NULL);
    }
    printf("calls %ld cleaned %ld\n", truth_count, cleaned);
    truth_write();
}
