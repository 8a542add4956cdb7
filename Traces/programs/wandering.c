// Coroutines that go from thread to thread, with calls open on their stacks: each turn of one runs in another thread
// than the one before. They jump among their own frames, too.
//
// usage: wandering ucontext|assembly apart|touching
//
// The former says how stacks are switched, the latter how they lie: with pages between them that nobody can read, or
// side by side. Each coroutine's sum is compared with what the same calls come to without coroutines. Prints the sum of
// all, and how many calls there were.

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif
#define THREADS 3
#define COROUTINES 24
#define TURNS 20
#define STACK (64 * 1024)
#define GUARD 4096

struct coroutine {
    ucontext_t context;
    void *sp;  // of a coroutine that does not run, where the switch is assembly
    struct coroutine *next;
    unsigned long number, sum;
    int is_done;
};

static struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct coroutine *first, *last;
} queues[THREADS];
static struct coroutine all[COROUTINES];
static int by_assembly, done;
static unsigned long leaves, walks;

// What a thread goes back to. A coroutine asks for it anew at each switch, because the thread may be another one by
// then.
static __thread ucontext_t thread_context;
static __thread void *thread_sp;
static __thread struct coroutine *thread_runs;
KEEP static ucontext_t *context_of_thread(void) {
    __asm__ volatile("");
    return &thread_context;
}
KEEP static void **sp_of_thread(void) {
    __asm__ volatile("");
    return &thread_sp;
}
KEEP static struct coroutine *run_by_thread(void) {
    __asm__ volatile("");
    return thread_runs;
}

// Keeps what functions keep, and goes on on another stack.
void change_stack(void **from, void *to);
#if defined(__x86_64__)
__asm__(".globl change_stack\n.type change_stack, @function\nchange_stack:\n.cfi_startproc\n"
        "push %rbp\n.cfi_adjust_cfa_offset 8\npush %rbx\n.cfi_adjust_cfa_offset 8\n"
        "push %r12\n.cfi_adjust_cfa_offset 8\npush %r13\n.cfi_adjust_cfa_offset 8\n"
        "push %r14\n.cfi_adjust_cfa_offset 8\npush %r15\n.cfi_adjust_cfa_offset 8\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\n.cfi_adjust_cfa_offset -8\npop %r14\n.cfi_adjust_cfa_offset -8\n"
        "pop %r13\n.cfi_adjust_cfa_offset -8\npop %r12\n.cfi_adjust_cfa_offset -8\n"
        "pop %rbx\n.cfi_adjust_cfa_offset -8\npop %rbp\n.cfi_adjust_cfa_offset -8\n"
        "ret\n.cfi_endproc\n.size change_stack, . - change_stack\n");
#else
void change_stack(void **from, void *to) { (void)from, (void)to, abort(); }
#endif

static void resume(struct coroutine *coroutine) {
    if (by_assembly) change_stack(sp_of_thread(), coroutine->sp);
    else swapcontext(context_of_thread(), &coroutine->context);
}

KEEP static void yield(struct coroutine *self) {
    if (!self) return;
    if (by_assembly) change_stack(&self->sp, *sp_of_thread());
    else swapcontext(&self->context, context_of_thread());
}

KEEP unsigned long leaf(unsigned long n) {
    __atomic_add_fetch(&leaves, 1, __ATOMIC_RELAXED);
    return n * 2654435761u + 1;
}

// Goes down, yields there and on the way up, and may jump over the last frames.
KEEP unsigned long walk(struct coroutine *self, int level, unsigned long n, jmp_buf *out) {
    __atomic_add_fetch(&walks, 1, __ATOMIC_RELAXED);
    if (!level) {
        yield(self);
        if (out) longjmp(*out, 1);
        return leaf(n);
    }
    unsigned long sum = walk(self, level - 1, leaf(n), out) + leaf(n);
    if (level % 2) yield(self);
    return sum * 31 + leaf(sum);
}

KEEP unsigned long jumped(struct coroutine *self, int level, unsigned long n) {
    jmp_buf out;
    if (!setjmp(out)) return walk(self, level, n, &out);
    yield(self);
    return leaf(n) * 7;
}

KEEP unsigned long work(struct coroutine *self, unsigned long number) {
    unsigned long sum = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        sum = sum * 17 + walk(self, turn % 7, number + sum, NULL);
        sum ^= jumped(self, turn % 5, number);
    }
    return sum;
}

static void begin(void) {
    struct coroutine *self = run_by_thread();
    self->sum = work(self, self->number);
    self->is_done = 1;
    yield(self);
}

static void make(struct coroutine *coroutine, char *stack) {
    getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = stack;
    coroutine->context.uc_stack.ss_size = STACK;
    makecontext(&coroutine->context, begin, 0);
    // Six registers, where it begins, and where that would return to.
    void **sp = (void **)(stack + STACK) - 8;
    memset(sp, 0, 8 * sizeof *sp);
    sp[6] = (void *)begin;
    coroutine->sp = sp;
}

// The coroutine is the next thread's; NULL: all are done.
static void put(struct queue *queue, struct coroutine *coroutine) {
    pthread_mutex_lock(&queue->lock);
    if (coroutine) coroutine->next = NULL;
    if (queue->first) queue->last->next = coroutine;
    else queue->first = coroutine;
    queue->last = coroutine;
    pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static struct coroutine *take(struct queue *queue) {
    pthread_mutex_lock(&queue->lock);
    while (!queue->first && __atomic_load_n(&done, __ATOMIC_RELAXED) < COROUTINES)
        pthread_cond_wait(&queue->filled, &queue->lock);
    struct coroutine *first = queue->first;
    if (first) queue->first = first->next;
    pthread_mutex_unlock(&queue->lock);
    return first;
}

static void *run(void *argument) {
    struct queue *mine = argument;
    for (struct coroutine *coroutine; (coroutine = take(mine));) {
        thread_runs = coroutine;
        resume(coroutine);
        if (!coroutine->is_done) put(&queues[(mine - queues + 1) % THREADS], coroutine);
        else if (__atomic_add_fetch(&done, 1, __ATOMIC_RELAXED) == COROUTINES)
            for (int i = 0; i < THREADS; i++) put(&queues[i], NULL);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    by_assembly = !strcmp(arguments[1], "assembly");
    int are_apart = !strcmp(arguments[2], "apart");
    size_t each = STACK + (are_apart ? GUARD : 0);
    char *stacks = mmap(NULL, COROUTINES * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        pthread_cond_init(&queues[i].filled, NULL);
    }
    for (int i = 0; i < COROUTINES; i++) {
        char *stack = stacks + (size_t)i * each;
        if (are_apart) mprotect(stack, GUARD, PROT_NONE), stack += GUARD;
        all[i].number = (unsigned long)i;
        make(&all[i], stack);
        put(&queues[i % THREADS], &all[i]);
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, &queues[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    unsigned long sum = 0;
    int wrong = 0;
    for (int i = 0; i < COROUTINES; i++) {
        wrong += all[i].sum != work(NULL, all[i].number);
        sum = sum * 31 + all[i].sum;
    }
    printf("sum %lu, %d wrong, %lu leaf, %lu walk\n", sum, wrong, leaves, walks);
    return wrong ? 1 : 0;
}
