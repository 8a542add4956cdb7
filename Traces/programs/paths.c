// paths COUNT ROUNDS [fork]: calls COUNT functions by as many different call paths, ROUNDS times over. With `fork` a
// child process goes on from the middle of the first round. Prints how many calls each process counted.

#include <sys/wait.h>

#include "program.h"

static long count, calls, at_fork = -1;

// Node n of a tree calls 2n + 1 and 2n + 2, by different functions, so that each node is a path of its own.
typedef void function(long node);
static function *const functions[16];

QUIET static inline __attribute__((always_inline)) void go_on(long node) {
    calls++;
    if (node == at_fork) {
        at_fork = -1;
        if (fork() != 0) wait(NULL);
    }
    for (long next = 2 * node + 1; next <= 2 * node + 2 && next < count; next++)
        functions[(node * 7919 & 14) | (next & 1)](next);
}

#define FUNCTION(n)                                                                                                    \
    APART static void path_##n(long node) { go_on(node); }
// clang-format off
FUNCTION(0) FUNCTION(1) FUNCTION(2) FUNCTION(3) FUNCTION(4) FUNCTION(5) FUNCTION(6) FUNCTION(7)
FUNCTION(8) FUNCTION(9) FUNCTION(10) FUNCTION(11) FUNCTION(12) FUNCTION(13) FUNCTION(14) FUNCTION(15)
static function *const functions[16] = {path_0, path_1, path_2,  path_3,  path_4,  path_5,  path_6,  path_7,
                                        path_8, path_9, path_10, path_11, path_12, path_13, path_14, path_15};
// clang-format on

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    count = atol(argv[1]);
    if (argc > 3) at_fork = count / 2;
    for (long round = atol(argv[2]); round > 0; round--) functions[0](0);
    printf("%ld\n", calls);
    fflush(stdout);
}
