// Jumps as compilers make them themselves, out of frames of all sizes: what is called afterwards is called by the
// function that the jump has led back to. As C++, too.
#include <stdio.h>

#include "program.h"

static void *outer[5], *inner[5];
static int depth;

// Frames of many sizes, so that those that a jump leaves lie at no special distance.
APART static void jump(void **buffer) { __builtin_longjmp(buffer, 1); }
APART static void small(int n, void **buffer);
APART static void large(int n, void **buffer) {
    char room[400 + 16];
    KEEP(room);
    depth++;
    if (n) small(n - 1, buffer);
    else jump(buffer);
    KEEP(room);
}
APART static void small(int n, void **buffer) {
    depth++;
    if (n) large(n - 1, buffer);
    else jump(buffer);
    KEEP(depth);
}

APART static void after_inner(int n) { KEEP(n); }
APART static void after_outer(int n) {
    char room[800];
    KEEP(room);
    KEEP(n);
}
APART static void deeper(int n) {
    small(n, inner);
    KEEP(n);
}

APART static void guards_inner(int n, int passes_on) {
    if (__builtin_setjmp(inner) == 0) {
        if (n & 1) large(n, inner);
        else deeper(n);
        KEEP(n);  // clang would leave the frame before the last call
    } else {
        after_inner(n);
        if (passes_on) jump(outer);
        after_inner(n);
        KEEP(n);
    }
}

APART static void guards_outer(int n) {
    if (__builtin_setjmp(outer) == 0) {
        guards_inner(n, 0);
        guards_inner(n, 1);
        KEEP(n);
    } else {
        after_outer(n);
    }
    after_outer(n);
    KEEP(n);
}

int main(void) {
    for (int n = 0; n < 40; n++) guards_outer(n);
    puts("done");
    return 0;
}
