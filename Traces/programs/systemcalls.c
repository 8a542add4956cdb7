// Makes system calls whose number and order are known: `systemcalls [N]`. It makes N of getppid in one function (1000),
// those of a file in another, some in a thread, some in a child, and writes its line at the end, after main.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void ask(int count) {
    for (int i = 0; i < count; i++) syscall(SYS_getppid);
}

__attribute__((noinline)) int files(void) {
    char text[16];
    if (open("/nowhere/to/be\tfound", O_RDONLY) >= 0) return -1;
    int file = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text) != 0 || write(file, text, 5) != 5) return -1;
    return close(file);
}

__attribute__((noinline)) void *thread(void *unused) {
    (void)unused;
    for (int i = 0; i < 10; i++) syscall(SYS_sched_yield);
    return NULL;
}

__attribute__((noinline)) void child(void) {
    for (int i = 0; i < 7; i++) syscall(SYS_getppid);
    _exit(3);
}

int main(int argc, char **argv) {
    ask(argc > 1 ? atoi(argv[1]) : 1000);
    if (files() != 0) return 1;
    pthread_t other;
    if (pthread_create(&other, NULL, thread, NULL) != 0 || pthread_join(other, NULL) != 0) return 2;
    pid_t pid = fork();
    if (pid == 0) child();
    int status;
    if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3) return 3;
    printf("done\n");
    return 0;
}
