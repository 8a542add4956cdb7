// Large stack frames, alloca, and a stack that grows and shrinks between calls of the same depth.

#include <alloca.h>
#include <string.h>

#include "program.h"

APART static int leaf(int n) { return n + 1; }

APART static int large(int n) {
    char local[1 << 20];
    memset(local, n, sizeof local);
    KEEP(local);
    return leaf(n) + local[12345];
}

APART static int variable(int n) {
    char *local = alloca((size_t)n * 256 + 1);
    local[0] = (char)n;
    KEEP(local);
    return leaf(local[0]) + (n ? variable(n - 1) : large(1));
}

int main(void) {
    int sum = 0;
    for (int i = 0; i < 20; i++) sum += large(i) + leaf(i) + variable(i * 5) + leaf(i);
    printf("sum %d\n", sum);
}
