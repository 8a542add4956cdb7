// A coroutine waits in the midst of calls while something happens that ends calls elsewhere. Then there are many other
// calls, and the coroutine goes on.
//
// usage: waiting_coroutine above|ended
//
//   above   another coroutine, whose stack lies right above, jumps among its own frames
//   ended   the thread that has begun the coroutine ends, and another one goes on with it

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define KEEP __attribute__((noinline, noclone))
#define STACK (64 * 1024)
#define GUARD 4096

static int result;
static unsigned sum;

// As libraries of coroutines have it: no table for unwinding, so its own calls are not recorded.
void change_stack(void **from, void *to);
__asm__(".globl change_stack\n.type change_stack, @function\nchange_stack:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
        "ret\n.size change_stack, . - change_stack\n");

static void *main_sp, *lower_sp, *upper_sp;
static ucontext_t waiting, *resumer;
static int by_context;

KEEP static int leaf(int n) { return n * 3 + 1; }

KEEP static int waits(int n) {
    if (n) return waits(n - 1) + leaf(n);
    if (by_context) swapcontext(&waiting, resumer);
    else change_stack(&lower_sp, main_sp);
    return leaf(1);
}

KEEP static void begins(void) {
    result = waits(10);
    if (by_context) setcontext(resumer);
    else change_stack(&lower_sp, main_sp);
}

static jmp_buf out;
KEEP static void jumps(void) {
    if (!setjmp(out)) {
        change_stack(&upper_sp, main_sp);
        longjmp(out, 1);
    }
    change_stack(&upper_sp, main_sp);
}

KEEP static unsigned deep(int n) { return n ? deep(n - 1) + (unsigned)leaf(n) : 0; }

// More calls, at more places of the stack, than the runtime can keep in mind.
static void call_often(void) {
    for (int i = 0; i < 64; i++) {
        volatile char *space = __builtin_alloca((size_t)(i % 8) * 16 + 16);
        *space = 1;
        sum += deep(6000);
    }
}

static void *made(char *stack, void (*begin)(void)) {
    // Six registers, and where it begins.
    void **sp = (void **)(stack + STACK) - 8;
    sp[6] = (void *)begin;
    return sp;
}

static void above(void) {
    char *stacks = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    lower_sp = made(stacks, begins), upper_sp = made(stacks + STACK, jumps);
    change_stack(&main_sp, upper_sp);
    change_stack(&main_sp, lower_sp);
    change_stack(&main_sp, upper_sp);
    call_often();
    change_stack(&main_sp, lower_sp);
}

static void *begin_it(void *unused) {
    ucontext_t here;
    resumer = &here;
    swapcontext(&here, &waiting);
    return unused;
}

static void ended(void) {
    char *stack = mmap(NULL, STACK + 2 * GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(stack, GUARD, PROT_NONE), mprotect(stack + GUARD + STACK, GUARD, PROT_NONE);
    by_context = 1;
    getcontext(&waiting);
    waiting.uc_stack.ss_sp = stack + GUARD, waiting.uc_stack.ss_size = STACK;
    makecontext(&waiting, begins, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, begin_it, NULL);
    pthread_join(thread, NULL);
    call_often();
    begin_it(NULL);
}

int main(int count, char **arguments) {
    if (count < 2) return 64;
    if (!strcmp(arguments[1], "above")) above();
    else ended();
    printf("%d %u\n", result, sum);
    return 0;
}
