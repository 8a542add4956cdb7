// An IFUNC resolver is traced, and calls a traced function: it runs before this file, or anything else, is relocated
// (linked with -z now).

#include "program.h"

static int chosen;

APART static int choose(void) { return chosen++ ? 2 : 1; }

static int implementation(int n) { return n + 40; }

static int (*resolve_answer(void))(int) {
    choose();
    return implementation;
}

int answer(int n) __attribute__((ifunc("resolve_answer")));

int main(void) { printf("%d\n", answer(2)); }
