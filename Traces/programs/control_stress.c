// One thread stops and starts recording, by ever other options, while others call, jump, mark and fork.

#include <fathom.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int done, levels;

__attribute__((noinline)) static void descend(int level, jmp_buf *target) {
    FATHOM_SCOPE("level");
    if (level) {
        descend(level - 1, target);
    } else if (target) {
        longjmp(*target, 1);
    }
    levels++;
}

__attribute__((noinline)) static void jump(void) {
    jmp_buf target;
    if (!setjmp(target)) descend(5, &target);
    levels++;
}

static void *work(void *argument) {
    while (!done) {
        descend(40, NULL);
        jump();
        fathom_mark("round");
        fathom_set_counter("levels", levels);
    }
    return argument;
}

static void child(void) {
    descend(4, NULL);
    fathom_stop();
    descend(2, NULL);
    fathom_start();
    descend(2, NULL);
    _exit(0);
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 300; i++) {
        fathom_stop();
        if (i % 3 == 0) usleep(50);
        if (i % 5 == 0) fathom_start_with((uint32_t)i % 7, (uint64_t)i % 11 * 100);
        else if (i % 5 == 1) fathom_start_with(FATHOM_ANY_DEPTH, 0);
        else fathom_start();
        descend(3, NULL);
        if (i % 2) usleep(100);
        if (i % 100 == 0) {
            if (!fork()) child();
            wait(NULL);
        }
        if (i % 50 == 0) fathom_save();
    }
    done = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
