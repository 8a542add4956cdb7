// longjmp, _longjmp and siglongjmp across random numbers of frames, to any landing place that is still open.
// Keeps its own true stack (truth.h).

#include <setjmp.h>

#include "truth.h"

static uint64_t seed = 2463534242u;
static sigjmp_buf landings[TRUTH_DEPTH];
static int landing_count;
static long budget, jumped;

QUIET static unsigned pick(unsigned below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % below;
}

static void walk(int level);

APART static void leaf(int level) {
    CALL(leaf);
    KEEP(level);
    RETURN;
}

APART static void jumper(void) {
    CALL(jumper);
    if (landing_count) {
        int target = (int)pick((unsigned)landing_count);
        switch (target % 3) {
        case 0: longjmp(landings[target], 1);
        case 1: _longjmp(landings[target], 2);
        default: siglongjmp(landings[target], 3);
        }
    }
    RETURN;
}

APART static void lander(int level) {
    CALL(lander);
    const int depth = truth_depth, mine = landing_count++;
    volatile int rounds = 0;
    if (mine % 3 == 2 ? sigsetjmp(landings[mine], 1) : setjmp(landings[mine])) {
        truth_depth = depth;
        landing_count = mine + 1;
        jumped++;
        rounds = rounds + 1;
        leaf(level);
    }
    if (rounds < 4) walk(level + 1);
    landing_count = mine;
    RETURN;
}

APART static void walk(int level) {
    CALL(walk);
    for (unsigned calls = 1 + pick(3); calls && level < 300; calls--) {
        if (--budget < 0) break;
        switch (pick(8)) {
        case 0:
        case 1: lander(level); break;
        case 2: jumper(); break;
        case 3: leaf(level); break;
        default: walk(level + 1);
        }
    }
    RETURN;
}

int main(int argc, char **argv) {
    CALL(main);
    budget = argc > 1 ? atol(argv[1]) : 50000;
    while (budget > 0) walk(0);
    RETURN;
    printf("calls %ld jumped %ld\n", truth_count, jumped);
    truth_write();
}
