// What the programs that Traces/torture/generate makes share. They leave functions in all the ways there are, and keep
// the true stack of every call themselves: who called it, at what depth, and whether it returned.
//
//   thread    one per thread: its calls in order, what it may still spend, its contexts
//   context   what runs on one stack, with its own calls: the thread's own, or a coroutine
//   place     what control finds again when it lands in a frame: by longjmp, in a catch, in a cleanup handler
//
// A traced function begins with CALL(function) and ends with RETURN. Nothing here is traced. TRUTH receives, for each
// thread, a line "thread TID", then one a call: function, caller (0 at the root), depth, 1 if it returned.
//
//   program SEED CALLS [alternate]    the walk's seed, calls a thread; signals run on signal stacks

#ifndef TORTURE_H
#define TORTURE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "../programs/program.h"

// What is inlined has hooks, and no sleds.
#ifdef SLEDS
#define INLINE __attribute__((noinline))
#else
#define INLINE __attribute__((always_inline)) inline
#endif

#define DEPTH 1024          // calls open in a context
#define LANDINGS 64         // landing places of longjmp open in a context
#define COROUTINES 8        // of a thread, at once
#define STACK (512 * 1024)  // of a coroutine
#define ARRAY (256 * 1024)  // a stack inside a function's frame
#define REGIONS 40          // signal stacks of a thread
#define REGION (1024 * 1024)
#define LEVELS 40        // calls a walk goes down
#define ARRAY_LEVELS 10  // on a stack inside a frame
#define HANDLERS 3       // signal handlers a context runs, one interrupting the other
#define THREADS 3

struct call {
    uintptr_t function, caller;
    int depth, returned;
};

struct landing {
    sigjmp_buf buffer;
    int kind;
};

struct context {
    ucontext_t machine, link;  // itself; who resumed it
    struct context *resumer;
    char *stack;
    int calls[DEPTH], depth;
    struct landing landings[LANDINGS];
    int landing_count, landing_floor;  // a jump below the floor would pass what must not be jumped over
    int busy;                          // exceptions are being handled: other contexts must not throw meanwhile
    int handlers, arrays;
    int saved_arrays[HANDLERS];  // before each handler
    int level_limit, array_limit;
    int is_live;
    unsigned serial;  // of the coroutine that uses this
    // A coroutine whose stack is inside a frame: whose, and that frame's depth. Gone when the frame is.
    struct context *owner;
    unsigned owner_serial;
    int owner_depth;
};

struct place {
    int depth, landing_count, landing_floor, busy, handlers, arrays;
};

// A signal stack. In use as long as its context runs that many handlers.
struct region {
    char *memory;
    size_t size;
    struct context *context;
    unsigned serial;
    int handlers;
};

struct thread {
    struct call *calls;
    long count, budget, limit;
    uint64_t seed;
    int id, level;
    int ends;  // may end inside
    struct context own, *context, coroutines[COROUTINES];
    struct region regions[REGIONS], array;
    struct context *array_context;  // whose frame has the array
    int array_depth;
};

static __thread struct thread *self;
static struct thread threads[THREADS];
static int alternate;

// ---- the walk

// xorshift64 (G. Marsaglia, "Xorshift RNGs", 2003).
QUIET static inline unsigned pick(unsigned below) {
    uint64_t *seed = &self->seed;
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (unsigned)(*seed >> 33) % below;
}

// Whether the function at `level` may make another call.
QUIET static inline int spend(int level) {
    if (self->budget <= 0 || level >= self->context->level_limit) return 0;
    self->budget--;
    self->level = level + 1;
    return 1;
}

// ---- the truth

QUIET static inline void call_begins(uintptr_t function) {
    struct thread *t = self;
    struct context *c = t->context;
    if (t->count == t->limit || c->depth == DEPTH) abort();
    struct call *call = &t->calls[t->count];
    call->function = function;
    call->caller = c->depth ? t->calls[c->calls[c->depth - 1]].function : 0;
    call->depth = c->depth;
    c->calls[c->depth++] = (int)t->count++;
}

QUIET static inline void call_returns(void) {
    struct context *c = self->context;
    self->calls[c->calls[--c->depth]].returned = 1;
}

#define CALL(function) call_begins((uintptr_t)(function))
#define RETURN call_returns()

QUIET static inline struct place here(void) {
    const struct context *c = self->context;
    struct place place = {c->depth, c->landing_count, c->landing_floor, c->busy, c->handlers, c->arrays};
    return place;
}

// ---- signal stacks

QUIET static int is_live(const struct context *c) {
    if (!c->is_live) return 0;
    return !c->owner || (c->owner->serial == c->owner_serial && is_live(c->owner) && c->owner->depth >= c->owner_depth);
}

QUIET static int in_use(const struct region *region) {
    const struct context *c = region->context;
    return c && c->serial == region->serial && is_live(c) && c->handlers >= region->handlers;
}

QUIET static int on_signal_stack(void) {
    stack_t old;
    sigaltstack(NULL, &old);
    return (old.ss_flags & SS_ONSTACK) != 0;
}

QUIET static inline int holds(const struct region *region, const char *address) {
    return region->memory && address >= region->memory && address < region->memory + region->size;
}

QUIET static void use_signal_stack(const struct region *region) {
    if (!alternate || on_signal_stack()) return;
    stack_t stack;
    memset(&stack, 0, sizeof stack);
    stack.ss_sp = region->memory;
    stack.ss_size = region->size;
    if (sigaltstack(&stack, NULL)) abort();
}

// Another one that nothing runs on; in a handler that runs on one, that one.
QUIET static void change_signal_stack(void) {
    const char *address = (char *)__builtin_frame_address(0);
    for (struct region *region = self->regions; region < self->regions + REGIONS; region++)
        if (holds(region, address) && in_use(region)) return use_signal_stack(region);
    if (holds(&self->array, address) && in_use(&self->array)) return use_signal_stack(&self->array);
    struct region *region = &self->regions[pick(REGIONS)];
    for (int i = 0; in_use(region) && i < REGIONS; i++)
        region = region + 1 < self->regions + REGIONS ? region + 1 : self->regions;
    if (in_use(region)) abort();
    use_signal_stack(region);
}

QUIET static int may_use_array(void) { return self->context->arrays < self->context->array_limit; }

// A signal stack inside the frame of the running function.
QUIET static void use_array(char *array) {
    struct region region = {array, ARRAY, NULL, 0, 0};
    self->array = region;
    self->array_context = self->context;
    self->array_depth = self->context->depth;
    use_signal_stack(&self->array);
}

QUIET static void drop_array(const char *array) {
    if (self->array.memory == array) self->array.memory = NULL;
    change_signal_stack();
}

// Control left the frame that the array was in, and the stack has come to lie there: the kernel takes this for the
// signal stack and does not let it be changed, so get below it.
QUIET APART static void leave_array(void) {
    char *address = (char *)__builtin_frame_address(0);
    struct region *array = &self->array;
    // What is called from here may lie there, even if this does not.
    if (!array->memory || in_use(array) || address < array->memory || address >= array->memory + ARRAY + 4096) return;
    char *deeper = (char *)__builtin_alloca((size_t)(address - array->memory) + 1024);
    KEEP(deeper);
    change_signal_stack();
}

QUIET static void mark_used(struct region *region, const char *address) {
    struct context *c = self->context;
    if (in_use(region)) {
        // By a handler that was left by a jump.
        if (!holds(region, address) && region->context == c && region->handlers == c->handlers) region->context = NULL;
    } else if (holds(region, address)) {
        region->context = c;
        region->serial = c->serial;
        region->handlers = c->handlers;
    }
}

QUIET static void handler_begins(void) {
    struct context *c = self->context;
    char *address = (char *)__builtin_frame_address(0);
    int is_array = on_signal_stack();
    c->saved_arrays[c->handlers++] = c->arrays;
    for (struct region *region = self->regions; region < self->regions + REGIONS; region++) {
        mark_used(region, address);
        if (holds(region, address)) is_array = 0;
    }
    mark_used(&self->array, address);
    // No room for another array on a stack that is one itself.
    if (is_array) c->arrays = c->array_limit;
}

QUIET static void handler_ends(void) {
    struct context *c = self->context;
    c->arrays = c->saved_arrays[--c->handlers];
}

// Three handlers, of which one is not traced; each for a signal that uses the signal stack and one that does not.
#define SIGNALS 6
QUIET static int may_raise(int level) { return self->context->handlers < HANDLERS && spend(level); }
QUIET static void raise_any(unsigned which) {
    raise(SIGRTMIN + (int)(which % SIGNALS));
    // The handler's return gave back the signal stack that it began with; a coroutine may have come to run on that one.
    change_signal_stack();
}

QUIET static void handle(int which, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER | (which % 2 ? SA_ONSTACK : 0);
    sigaction(SIGRTMIN + which, &action, NULL);
}

// ---- landings

// Control is where `place` was noted.
QUIET static void back(const struct place *place) {
    struct context *c = self->context;
    c->depth = place->depth;
    c->landing_count = place->landing_count;
    c->landing_floor = place->landing_floor;
    c->busy = place->busy;
    c->handlers = place->handlers;
    c->arrays = place->arrays;
    for (struct context *other = self->coroutines; other < self->coroutines + COROUTINES; other++)
        if (other->owner == c && other->owner_depth > c->depth) other->is_live = 0;
    int is_gone = self->array_context == c && self->array_depth > c->depth;
    if (is_gone) self->array.context = NULL;
    leave_array();
    change_signal_stack();
    if (is_gone) self->array.memory = NULL;
}

// Until control is back, no jump passes here.
QUIET static inline void forbid_jumps(void) { self->context->landing_floor = self->context->landing_count; }

QUIET static inline struct landing *add_landing(int kind) {
    struct context *c = self->context;
    if (c->landing_count == LANDINGS) return NULL;
    c->landings[c->landing_count].kind = kind;
    return &c->landings[c->landing_count++];
}

QUIET APART static void jump(void) {
    struct context *c = self->context;
    int count = c->landing_count - c->landing_floor;
    if (count <= 0) return;
    struct landing *landing = &c->landings[c->landing_floor + (int)pick((unsigned)count)];
    if (landing->kind == 0) longjmp(landing->buffer, 1);
    if (landing->kind == 1) _longjmp(landing->buffer, 1);
    siglongjmp(landing->buffer, 1);
}

#define SETJMP(landing)                                                                                                \
    ((landing)->kind == 0   ? setjmp((landing)->buffer)                                                                \
     : (landing)->kind == 1 ? _setjmp((landing)->buffer)                                                               \
                            : sigsetjmp((landing)->buffer, 1))

// ---- coroutines

QUIET static void resume(struct context *c) {
    c->resumer = self->context;
    self->context = c;
    swapcontext(&c->link, &c->machine);
    change_signal_stack();
}

QUIET static void yield(void) {
    struct context *c = self->context;
    if (!c->resumer || c->busy) return;
    self->context = c->resumer;
    swapcontext(&c->machine, &c->link);
    change_signal_stack();
}

// The last word of a coroutine's function before it returns: uc_link resumes the resumer.
QUIET static void coroutine_ends(void) {
    struct context *c = self->context;
    c->is_live = 0;
    self->context = c->resumer;
}

QUIET static int is_running(const struct context *c) {
    for (const struct context *other = self->context; other; other = other->resumer)
        if (other == c) return 1;
    return 0;
}

// `array`: the stack, inside the frame of the running function; NULL for one of its own.
QUIET static void run_coroutine(void (*body)(void), char *array) {
    struct context *c = NULL;
    for (struct context *other = self->coroutines; other < self->coroutines + COROUTINES && !c; other++)
        if (!is_live(other) && !is_running(other)) c = other;
    if (!c) return;
    if (self->array_context == c) self->array.memory = NULL;
    getcontext(&c->machine);
    c->machine.uc_stack.ss_sp = array ? array : c->stack;
    c->machine.uc_stack.ss_size = array ? ARRAY : STACK;
    c->machine.uc_link = &c->link;
    makecontext(&c->machine, body, 0);
    c->depth = c->landing_count = c->landing_floor = c->busy = c->handlers = c->arrays = 0;
    c->level_limit = array ? self->level + ARRAY_LEVELS : LEVELS;
    c->array_limit = array ? 0 : 1;
    c->is_live = 1;
    c->serial++;
    c->owner = array ? self->context : NULL;
    c->owner_serial = self->context->serial;
    c->owner_depth = self->context->depth;
    for (unsigned rounds = 1 + pick(4); rounds > 0 && is_live(c); rounds--) resume(c);
    if (array) c->is_live = 0;
}

QUIET static void resume_any(void) {
    struct context *c = &self->coroutines[pick(COROUTINES)];
    if (is_live(c) && !is_running(c) && !c->owner) resume(c);
}

// ---- ends of threads

QUIET static int is_own(void) { return self->context == &self->own && !self->own.handlers && !self->own.busy; }

QUIET APART static void end_thread(int how) {
    if (!self->ends || !is_own() || self->budget > self->limit / 8) return;
    if (how) pthread_exit(NULL);
    pthread_cancel(pthread_self());
    pthread_testcancel();
}

// ---- beginning and end

QUIET static void thread_begins(struct thread *t) {
    self = t;
    t->id = (int)syscall(SYS_gettid);
    if (alternate) change_signal_stack();
}

QUIET static void begin(int argc, char **argv) {
    alternate = argc > 3 && !strcmp(argv[3], "alternate");
    for (int i = 0; i < THREADS; i++) {
        struct thread *t = &threads[i];
        t->seed = (uint64_t)(argc > 1 ? atol(argv[1]) : 1) * 88172645463325252ull + (uint64_t)i + 1;
        t->budget = argc > 2 ? atol(argv[2]) : 2000;
        // Beside what is spent: roots, handlers that clean up, guards, coroutines.
        t->limit = t->budget * 8 + 1000;
        t->calls = (struct call *)calloc((size_t)t->limit, sizeof *t->calls);
        t->ends = i > 0;
        t->context = &t->own;
        t->own.level_limit = LEVELS;
        t->own.array_limit = 2;
        t->own.is_live = 1;
        for (int j = 0; j < COROUTINES; j++) t->coroutines[j].stack = (char *)malloc(STACK);
        for (int j = 0; j < REGIONS; j++) {
            t->regions[j].memory = (char *)malloc(REGION);
            t->regions[j].size = REGION;
        }
    }
    self = &threads[0];
}

QUIET static void run_threads(void *(*root)(void *)) {
    pthread_t others[THREADS];
    for (int i = 1; i < THREADS; i++) pthread_create(&others[i], NULL, root, &threads[i]);
    for (int i = 1; i < THREADS; i++) pthread_join(others[i], NULL);
}

QUIET static void end(void) {
    long calls = 0;
    FILE *file = truth_open();
    for (int i = 0; i < THREADS; i++) {
        calls += threads[i].count;
        if (file) fprintf(file, "thread %d\n", threads[i].id);
        for (struct call *call = threads[i].calls; file && call < threads[i].calls + threads[i].count; call++)
            fprintf(file, "%lx %lx %d %d\n", (unsigned long)call->function, (unsigned long)call->caller, call->depth,
                    call->returned);
    }
    if (file) fclose(file);
    printf("calls %ld\n", calls);
}

#endif
