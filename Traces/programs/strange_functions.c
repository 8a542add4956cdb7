// Functions that a hook may harm, where it needs what is not there.
#include <stdio.h>

// Functions without a prologue: what they are made of is told by statements of assembly alone.
__attribute__((naked, noinline)) int plus_one(int x) { __asm__("lea 1(%rdi), %eax\n\tret"); }
static __attribute__((naked, noinline)) long sum(long a, long b) {
    __asm__("lea (%%rdi,%%rsi,%c0), %%rax\n\tret" : : "i"(1));
}

static int handled;
__attribute__((noinline)) static void handle(void) { handled++; }
#ifdef __clang__
// clang takes no other statements there.
static void enter(void) { handle(); }
#else
__attribute__((naked, noinline)) static void enter(void) {
    __asm__("sub $8, %rsp");
    handle();
    __asm__("add $8, %rsp\n\tret");
    __builtin_unreachable();
}
#endif

// What chooses a function is called before threads have memory, in a static program.
static int doubled(int x) { return 2 * x; }
static int is_fast(void) { return 1; }
static void *choose(void) { return is_fast() ? (void *)doubled : NULL; }
int chosen(int x) __attribute__((ifunc("choose")));

// All registers are as they were when this returns.
__attribute__((no_caller_saved_registers, noinline, target("general-regs-only"))) void keep(int *p) { (*p)++; }

__attribute__((noinline)) static long around(int n) {
    register long first __asm__("r10") = 77, second __asm__("r11") = 55;
    __asm__ volatile("" : "+r"(first), "+r"(second));
    keep(&n);
    __asm__ volatile("" : "+r"(first), "+r"(second));
    return first + second + n;
}

int main(void) {
    enter();
    printf("%d %ld %d %d %ld\n", plus_one(20), sum(3, 4), handled, chosen(21), around(5));
    return 0;
}
