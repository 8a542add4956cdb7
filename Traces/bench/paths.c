// paths PATHS: makes that many call paths, 1 to 1,551,760, through 60 functions of uneven cost, at most 40 deep.
#include <stdio.h>
#include <stdlib.h>

static long left;
static unsigned seed = 1;
static volatile unsigned sink;

__attribute__((no_instrument_function)) static unsigned draw(unsigned below) {
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % below;
}

static void call(int depth);

#define FUNCTION(name)                                                                                                 \
    __attribute__((noinline)) static void name(int depth) {                                                            \
        for (unsigned n = draw(200); n > 0; n--) sink += n;                                                            \
        call(depth);                                                                                                   \
    }
#define SIX(name)                                                                                                      \
    FUNCTION(name##_parse)                                                                                             \
    FUNCTION(name##_read)                                                                                              \
    FUNCTION(name##_compare) FUNCTION(name##_insert) FUNCTION(name##_render_with_a_long_name) FUNCTION(name##_free)
#define LIST(name)                                                                                                     \
    name##_parse, name##_read, name##_compare, name##_insert, name##_render_with_a_long_name, name##_free,
// The formatter does not know what the macros make.
// clang-format off
SIX(buffer) SIX(table) SIX(node) SIX(token) SIX(field)
SIX(record) SIX(index) SIX(page) SIX(stream) SIX(query)

static void (*const functions[])(int) = {
    LIST(buffer) LIST(table) LIST(node) LIST(token) LIST(field)
    LIST(record) LIST(index) LIST(page) LIST(stream) LIST(query)
};
// clang-format on

// Calls functions that are all different: every call is a path of its own.
__attribute__((no_instrument_function)) static void call(int depth) {
    if (depth == 40) return;
    unsigned first = draw(60), calls = depth < 3 ? 60 : draw(100) < 57 ? 0 : 1 + draw(3);
    for (unsigned i = 0; i < calls && left > 0; i++) {
        left--;
        functions[(first + i) % 60](depth + 1);
    }
}

int main(int count, char **arguments) {
    left = count > 1 ? atol(arguments[1]) - 1 : 0;
    call(0);
    if (left > 0) fprintf(stderr, "paths: %ld paths too few\n", left);
    return left > 0;
}
