// A start that calls a few functions of many, which lie on pages far from one another.

#include "program.h"

#define PAGE_OF_NOTHING "\t.fill 4000, 1, 0x90\n"
#define FAR(name, next)                                                                                                \
    APART int name(int x) {                                                                                            \
        __asm__ __volatile__("jmp 1f\n" PAGE_OF_NOTHING "1:");                                                         \
        return x > 1000 ? x : next;                                                                                    \
    }
#define NEAR(name, next)                                                                                               \
    APART int name(int x) { return next; }

FAR(unused_a, x + 1)
NEAR(third, x * 3)
FAR(unused_b, x + 2)
NEAR(first, x + 5)
FAR(unused_c, x + 3)
NEAR(second, first(x) + 1)

int main(int argc, char **argv) {
    KEEP(argv);
    if (argc > 3) return unused_a(argc) + unused_b(argc) + unused_c(argc);
    printf("%d\n", second(argc) + third(argc));
}
