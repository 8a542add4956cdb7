// Stacks that lie where addresses mislead. Keeps its own true stack (truth.h). stacks KIND:
//
//   nested  a handler on the thread's stack, and in it the same one on a signal stack that lies above
//   jump    longjmp from one frame of a handler on a signal stack to another
//   throw   the same with an exception
//   link    a coroutine that returned through uc_link, and a mark before the next call
//   inside  a coroutine's stack inside the frame of the function that runs it
//   gone    the same, abandoned; then another function's frame is at the same depth and address

#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <pthread.h>
#include <ucontext.h>

#include "fathom.h"
#include "truth.h"

#define SIZE (256 * 1024)

static char memory[2 * SIZE] __attribute__((aligned(4096)));
static ucontext_t here, there;
static uintptr_t coroutine_stack[TRUTH_DEPTH];
static int depth_here;

APART static void leaf(int level) {
    CALL(leaf);
    KEEP(level);
    RETURN;
}

// ---- nested

APART static void interrupted(int signal) {
    CALL(interrupted);
    leaf(1);
    raise(signal);
    leaf(2);
    RETURN;
}

static void on_either(int signal) {
    CALL(on_either);
    leaf(3);
    if (signal == SIGUSR1) raise(SIGUSR2);
    leaf(4);
    RETURN;
}

// ---- jump, throw: the frame that control lands in is small, those that are left are, too

static jmp_buf landing;
static volatile int is_set;

APART static void jumper(int level) {
    CALL(jumper);
    leaf(level);
    if (level > 0) jumper(level - 1);
    if (is_set) longjmp(landing, 1);
    RETURN;
}

APART static void lander(int level) {
    CALL(lander);
    const int depth = truth_depth;
    is_set = 1;
    if (!setjmp(landing)) jumper(level);
    is_set = 0;
    truth_depth = depth;
    leaf(level);
    RETURN;
}

APART static void thrower(int level) {
    CALL(thrower);
    leaf(level);
    if (level == 0) throw level;
    thrower(level - 1);
    RETURN;
}

APART static void catcher(int level) {
    CALL(catcher);
    const int depth = truth_depth;
    try {
        thrower(level);
    } catch (int) {
        truth_depth = depth;
        leaf(level);
    }
    RETURN;
}

static void on_signal_stack(int signal) {
    CALL(on_signal_stack);
    for (int level = 0; level < 4; level++) {
        if (signal == SIGUSR1) lander(level);
        else catcher(level);
        leaf(level);
    }
    RETURN;
}

// ---- link, inside

APART static void coroutine(void) {
    CALL(coroutine);
    leaf(1);
    RETURN;
    truth_stack = truth_main_stack;
    truth_depth = depth_here;
}

QUIET APART static void run_coroutine(char *stack, void (*body)(void)) {
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = SIZE;
    there.uc_link = &here;
    makecontext(&there, body, 0);
    depth_here = truth_depth;
    truth_stack = coroutine_stack;
    truth_depth = 0;
    swapcontext(&here, &there);
}

APART static void linked(void) {
    CALL(linked);
    run_coroutine(memory, coroutine);
    fathom_mark("back");
    leaf(1);
    RETURN;
}

APART static void holder(void) {
    CALL(holder);
    char stack[SIZE];
    run_coroutine(stack, coroutine);
    RETURN;
}

APART static void caller(int level) {
    CALL(caller);
    if (level > 0) caller(level - 1);
    else holder();
    leaf(level);
    RETURN;
}

// ---- gone

#if defined(__x86_64__)
#define STACK_POINTER(value) __asm__ __volatile__("mov %%rsp, %0" : "=r"(value))
#else
#define STACK_POINTER(value) __asm__ __volatile__("mov %0, sp" : "=r"(value))
#endif

static uintptr_t abandoned_at, jumper_at;

APART static void abandoned(void) {
    CALL(abandoned);
    leaf(1);
    truth_stack = truth_main_stack;
    truth_depth = depth_here;
    swapcontext(&there, &here);
}

APART static void abandoner(void) {
    CALL(abandoner);
    char stack[SIZE];
    STACK_POINTER(abandoned_at);
    run_coroutine(stack, abandoned);
    RETURN;
}

// Its caller's frame is far above its own.
APART static void far_jumper(int jumps) {
    CALL(far_jumper);
    char large[1000];
    KEEP(large);
    STACK_POINTER(jumper_at);
    if (jumps) longjmp(landing, 1);
    RETURN;
}

APART static void far_lander(int is_last) {
    CALL(far_lander);
    const int depth = truth_depth;
    static uintptr_t distance, here;
    STACK_POINTER(here);
    while (is_last && here > abandoned_at + distance) {
        KEEP(alloca(16));
        STACK_POINTER(here);
    }
    if (!setjmp(landing)) far_jumper(is_last);
    truth_depth = depth;
    distance = here - jumper_at;
    leaf(1);
    RETURN;
}

APART static void abandon(void) {
    CALL(abandon);
    abandoner();
    RETURN;
}

// ----

QUIET static void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER | flags;
    sigaction(signal, &action, nullptr);
}

// Its stack is the lower half of the memory; the upper one is that of its signals.
QUIET static void *run(void *argument) {
    const char *kind = static_cast<const char *>(argument);
    stack_t stack = {memory + SIZE, 0, SIZE};
    sigaltstack(&stack, nullptr);
    for (int i = 0; i < 3; i++) {
        if (!strcmp(kind, "throw")) interrupted(SIGUSR2);
        else interrupted(SIGUSR1);
    }
    return nullptr;
}

QUIET int main(int argc, char **argv) {
    const char *kind = argc > 1 ? argv[1] : "";
    int is_nested = !strcmp(kind, "nested");
    handle(SIGUSR1, is_nested ? on_either : on_signal_stack, is_nested ? 0 : SA_ONSTACK);
    handle(SIGUSR2, is_nested ? on_either : on_signal_stack, SA_ONSTACK);
    for (int i = 0; i < 3 && !strcmp(kind, "link"); i++) linked();
    for (int i = 0; i < 3 && !strcmp(kind, "inside"); i++) caller(i);
    if (!strcmp(kind, "gone")) {
        far_lander(0);
        abandon();
        far_lander(1);
        leaf(2);
    }
    if (!truth_count) {
        pthread_attr_t attributes;
        pthread_t thread;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, memory, SIZE);
        if (pthread_create(&thread, &attributes, run, argv[1])) return 1;
        pthread_join(thread, nullptr);
    }
    printf("calls %ld\n", truth_count);
    truth_write();
}
