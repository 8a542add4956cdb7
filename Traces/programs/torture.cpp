// Leaves frames in every way C++ has: exceptions through many frames, rethrown ones, nested handlers, destructors
// that call functions while the stack unwinds, longjmp and siglongjmp, all mixed by a seeded random walk.
// Keeps its own true stack (truth.h).

#include <csetjmp>
#include <cstdint>

#include "truth.h"

static uint64_t seed = 88172645463325252ull;
static long budget, caught, jumped, cleaned;

// xorshift64 (G. Marsaglia, "Xorshift RNGs", 2003).
QUIET static unsigned pick(unsigned below) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return static_cast<unsigned>(seed >> 33) % below;
}

// The landing places of longjmp that are in reach: jumping over a destructor or out of a handler is undefined.
static struct Landing {
    sigjmp_buf buffer;
    bool saves_mask;
} landings[TRUTH_DEPTH];
static int landing_count, landing_floor;

struct Error {
    int level;
};
struct Worse : Error {};

static void walk(int level);

APART static void leaf(int level) {
    CALL(leaf);
    KEEP(level);
    RETURN;
}

APART static void cleanup(int level) {
    CALL(cleanup);
    cleaned++;
    leaf(level);
    RETURN;
}

// Runs `cleanup` while an exception passes through the frame it lives in.
struct Guard {
    int depth = truth_depth, floor = landing_floor, count = landing_count;
    QUIET Guard() { landing_floor = landing_count; }
    QUIET ~Guard() {
        truth_depth = depth;
        landing_floor = floor;
        landing_count = count;
        cleanup(depth);
    }
};

APART static void guarded(int level) {
    CALL(guarded);
    {
        Guard guard;
        walk(level + 1);
    }
    RETURN;
}

APART static void thrower(int level) {
    CALL(thrower);
    if (pick(2)) throw Worse{{level}};
    throw Error{level};
}

APART static void jumper(int level) {
    CALL(jumper);
    int count = landing_count - landing_floor;
    if (count > 0) {
        Landing &target = landings[landing_floor + pick(count)];
        if (target.saves_mask) siglongjmp(target.buffer, level + 1);
        longjmp(target.buffer, level + 1);
    }
    RETURN;
}

APART static void catcher(int level) {
    CALL(catcher);
    const int depth = truth_depth, floor = landing_floor, count = landing_count;
    try {
        walk(level + 1);
    } catch (const Worse &error) {
        truth_depth = depth;
        landing_count = count;
        landing_floor = count;
        caught++;
        leaf(error.level);
        if (pick(3) == 0) {
            try {
                walk(level + 1);
            } catch (const Error &) {
                truth_depth = depth;
                landing_count = landing_floor = count;
                leaf(level);
            }
        }
        if (pick(3) == 0 && level > 0) throw;
        landing_floor = floor;
    }
    RETURN;
}

APART static void lander(int level) {
    CALL(lander);
    const int depth = truth_depth, floor = landing_floor, mine = landing_count++;
    landings[mine].saves_mask = level % 2;
    volatile int rounds = 0;
    int value = level % 2 ? sigsetjmp(landings[mine].buffer, 1) : setjmp(landings[mine].buffer);
    if (value) {
        truth_depth = depth;
        landing_count = mine + 1;
        landing_floor = floor;
        jumped++;
        rounds = rounds + 1;
        leaf(level);
    }
    if (rounds < 3) walk(level + 1);
    landing_count = mine;
    RETURN;
}

APART static void walk(int level) {
    CALL(walk);
    for (unsigned calls = 1 + pick(3); calls > 0 && level < 200; calls--) {
        if (--budget < 0) break;
        switch (pick(12)) {
        case 0:
        case 1: catcher(level); break;
        case 2:
        case 3: lander(level); break;
        case 4: guarded(level); break;
        case 5: thrower(level); break;
        case 6: jumper(level); break;
        case 7: leaf(level); break;
        default: walk(level + 1);
        }
    }
    RETURN;
}

int main(int argc, char **argv) {
    CALL(main);
    budget = argc > 1 ? atol(argv[1]) : 50000;
    const int depth = truth_depth;
    while (budget > 0) {
        try {
            walk(0);
        } catch (const Error &) {
            truth_depth = depth;
            caught++;
        }
        landing_count = landing_floor = 0;
    }
    RETURN;
    printf("calls %ld caught %ld jumped %ld cleaned %ld\n", truth_count, caught, jumped, cleaned);
    truth_write();
}
