// Calls a function five times, and once more in a child that it forks.

#include <sys/wait.h>
#include <unistd.h>

static volatile int calls;

__attribute__((noinline)) static void leaf(void) { calls++; }

int main(void) {
    for (int i = 0; i < 5; i++) leaf();
    if (fork() == 0) leaf();
    else wait(NULL);
    return 0;
}
