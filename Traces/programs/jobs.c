// Runs what looks like pieces of a Swift task, by hand: called from the function that runs jobs, with the asynchronous
// context in its register, by code that calls a sanitizer's hooks. The argument is how many calls the last one makes.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void __tsan_func_entry(void *call_site);
void __tsan_func_exit(void);

#define APART __attribute__((noinline, noclone))
#define BEGIN __tsan_func_entry(__builtin_return_address(0))
// The compiler does not jump to this hook either.
#define END                                                                                                            \
    __tsan_func_exit();                                                                                                \
    __asm__ volatile("")

// What the runtime reads of swift/ABI/Task.h, class Job and AsyncTask.
static struct {
    char head[36];
    uint32_t id;
    char flags[16];
    uintptr_t resume[2];
} task = {.id = 7};

struct context {
    _Alignas(16) const void *caller;
    const void *resume;
};

void *swift_task_getCurrent(void) { return &task; }

static int leaves;

APART static void leaf(void) {
    BEGIN;
    if (getenv("NOTHING")) puts("leaf");
    END;
}

APART __attribute__((visibility("hidden"), used)) void piece(void) {
    BEGIN;
    for (int i = 0; i < leaves; i++) leaf();
    END;
}

// swift::runJobInEstablishedExecutorContext(swift::Job *), or rather what in it calls a piece.
void run_job(const void *context) __asm__("_ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE")
    __attribute__((visibility("hidden")));
// Apart from all other code, as in the library that it stands for.
__asm__(".text\n"
        ".skip 131072\n"
        ".p2align 4\n"
        ".globl _ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE\n"
        ".hidden _ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE\n"
        "_ZN5swift34runJobInEstablishedExecutorContextEPNS_3JobE:\n"
#if defined(__x86_64__)
        "pushq %r14\n"
        "movq %rdi, %r14\n"
        "callq piece\n"
        "popq %r14\n"
        "retq\n"
#else
        "stp x22, x30, [sp, #-16]!\n"
        "mov x22, x0\n"
        "bl piece\n"
        "ldp x22, x30, [sp], #16\n"
        "ret\n"
#endif
        ".skip 131072\n"
        ".p2align 4\n");

APART static void deep(void) {
    struct context first = {NULL, (const void *)leaf}, second = {&first, (const void *)leaf};
    BEGIN;
    run_job(&second);
    END;
}

APART static void middle(void) {
    BEGIN;
    deep();
    END;
}

int main(int count, char **arguments) {
    // Begins like a context; but where it should lead back to is no code.
    struct context false_one = {NULL, &false_one};
    BEGIN;
    run_job(&false_one);
    run_job((const void *)16);
    leaves = count > 1 ? atoi(arguments[1]) : 1;
    middle();
    END;
    printf("%d leaves\n", leaves);
    return 0;
}
