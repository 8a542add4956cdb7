// Uses fresh pages in functions that are known, and writes down by function how many page faults the kernel counted for
// it meanwhile (getrusage), and what it allocated. A line is the function's name and, of all of its calls with what
// they call: minor faults, allocations, bytes.

#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define UNSEEN __attribute__((no_instrument_function, noinline))
#define SEEN __attribute__((noinline))

enum { PAGES = 1000 };

static size_t page_size;

UNSEEN static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt;
}

// Pages that nobody has used, of which each is one fault.
UNSEEN static char *fresh(size_t pages) {
    char *memory = (char *)mmap(NULL, pages * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(1);
    madvise(memory, pages * page_size, MADV_NOHUGEPAGE);
    return memory;
}

UNSEEN static void use(char *memory, size_t pages) {
    for (size_t i = 0; i < pages; i++) ((volatile char *)memory)[i * page_size] = 1;
}

SEEN static void touch(char *memory, size_t pages) { use(memory, pages); }

SEEN static void leaf(char *memory) { use(memory, 100); }

// Half of what it uses itself is used by what it calls, between its own.
SEEN static void both(char *memory) {
    use(memory, 100);
    leaf(memory + 100 * page_size);
    use(memory + 200 * page_size, 100);
}

// It has no fault: its pages are there.
SEEN static void again(char *memory) { use(memory, PAGES); }

SEEN static void allocate(int depth) {
    for (int i = 0; i < 10; i++) {
        char *volatile block = (char *)malloc(100);
        free(block);
    }
    if (depth > 0) allocate(depth - 1);
}

// ---- a coroutine on a stack of its own: what it uses is not its resumer's

static ucontext_t resumer, coroutine;
static char *apart;

SEEN static void inside(void) {
    use(apart, 50);
    swapcontext(&coroutine, &resumer);
    use(apart + 50 * page_size, 50);
}

SEEN static void resume(void) {
    static char stack[1 << 16];
    memset(stack, 1, sizeof stack);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    coroutine.uc_link = &resumer;
    makecontext(&coroutine, inside, 0);
    swapcontext(&resumer, &coroutine);
    swapcontext(&resumer, &coroutine);
}

// ---- other threads and processes

SEEN static void *worker(void *memory) {
    touch((char *)memory, 300);
    return NULL;
}

SEEN static void in_child(char *memory) { use(memory, 400); }

int main(void) {
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    char *first = fresh(PAGES), *second = fresh(PAGES), *third = fresh(300), *fourth = fresh(300), *fifth = fresh(400);
    apart = fresh(100);
    touch(first, 0);  // what the first call of it needs, such as the runtime's own memory, is there from here on
    both(fresh(300));
    long before = faults();
    touch(first, PAGES);
    touch(second, PAGES);
    long after = faults();
    printf("touch %ld\n", after - before);
    before = faults();
    both(third);
    printf("both %ld\n", faults() - before);
    before = faults();
    again(first);
    printf("again %ld\n", faults() - before);
    resume();
    pthread_t thread;
    pthread_create(&thread, NULL, worker, fourth);
    pthread_join(thread, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        in_child(fifth);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    allocate(2);
    return 0;
}
