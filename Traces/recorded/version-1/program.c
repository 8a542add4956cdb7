// What version-1 is a recording of: recursion, a landing that ends three calls, and two threads.
#include <pthread.h>
#include <setjmp.h>

static jmp_buf landing;

__attribute__((noinline)) static int leaf(int n) { return n + 1; }
__attribute__((noinline)) static int down(int n) {
    if (n == 0) longjmp(landing, 1);
    return down(n - 1) + leaf(n);
}
__attribute__((noinline)) static int fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }

static void *worker(void *argument) {
    fib(4);
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    if (!setjmp(landing)) down(2);
    return fib(3) != 5;
}
