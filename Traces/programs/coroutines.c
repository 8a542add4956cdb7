// Coroutines on swapcontext: ping-pong on adjacent stacks, a coroutine that runs coroutines, one that finishes through
// uc_link, one that is abandoned half-way, and a stack used again by the next one.
// Keeps a true stack for every coroutine (truth.h): a call on another stack has no caller on this one.

#include <ucontext.h>

#include "truth.h"

#define STACK (64 * 1024)

struct coroutine {
    ucontext_t context, *resumer;
    uintptr_t stack[TRUTH_DEPTH];
    int depth;
};

static struct coroutine ping, pong, outer, inner, leaver, next;
static char *stacks;
static ucontext_t main_context;
static int main_depth;
static long steps;

// Switches stacks, and the true stack with them. NULL is main's.
QUIET static void change(struct coroutine *from, struct coroutine *to) {
    *(from ? &from->depth : &main_depth) = truth_depth;
    truth_stack = to ? to->stack : truth_main_stack;
    truth_depth = to ? to->depth : main_depth;
    swapcontext(from ? &from->context : &main_context, to ? &to->context : &main_context);
}

APART static void step(int level) {
    CALL(step);
    steps++;
    if (level) step(level - 1);
    RETURN;
}

// Works, and yields from the depths.
APART static void yield_deep(int level, struct coroutine *from, struct coroutine *to) {
    CALL(yield_deep);
    step(2);
    if (level) yield_deep(level - 1, from, to);
    else change(from, to);
    step(1);
    RETURN;
}

static void run_ping(void) {
    CALL(run_ping);
    for (int i = 0; i < 1000; i++) yield_deep(i % 7, &ping, &pong);
    change(&ping, NULL);
    RETURN;
}

static void run_pong(void) {
    CALL(run_pong);
    for (;;) yield_deep(3, &pong, &ping);
}

// Ends by returning: uc_link resumes main.
static void run_inner(void) {
    CALL(run_inner);
    for (int i = 0; i < 5; i++) yield_deep(i, &inner, &outer);
    RETURN;
    truth_stack = truth_main_stack;
    truth_depth = main_depth;
}

static void run_outer(void) {
    CALL(run_outer);
    for (int i = 0; i < 5; i++) {
        step(3);
        change(&outer, &inner);
    }
    change(&outer, NULL);
    RETURN;
}

static void run_leaver(void) {
    CALL(run_leaver);
    yield_deep(4, &leaver, NULL);
    RETURN;
}

static void run_next(void) {
    CALL(run_next);
    yield_deep(2, &next, NULL);
    change(&next, NULL);
    RETURN;
}

QUIET static void make(struct coroutine *coroutine, int slot, void (*body)(void)) {
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = stacks + slot * STACK;
    coroutine->context.uc_stack.ss_size = STACK;
    coroutine->context.uc_link = &main_context;
    makecontext(&coroutine->context, body, 0);
}

int main(void) {
    CALL(main);
    stacks = malloc(6 * STACK);
    make(&ping, 0, run_ping);
    make(&pong, 1, run_pong);
    make(&outer, 2, run_outer);
    make(&inner, 3, run_inner);
    make(&leaver, 4, run_leaver);
    change(NULL, &ping);
    step(1);
    change(NULL, &outer);
    step(2);
    change(NULL, &inner);
    step(3);
    change(NULL, &leaver);
    step(4);
    // The leaver is abandoned: its stack serves the next coroutine.
    make(&next, 4, run_next);
    change(NULL, &next);
    change(NULL, &next);
    step(5);
    RETURN;
    printf("steps %ld calls %ld\n", steps, truth_count);
    truth_write();
}
