// Goes through the list of modules with functions that are traced, while the loader's lock for the list is held.
//   listing churn LIBRARY LIBRARY   two threads load a library each, go through the list, and unload it, again and
//   again listing wait LIBRARY            whoever goes through the list waits there for a thread that has loaded a
//   library, and
//                                   makes many calls
//   listing fork LIBRARY            the same with a fork's child, which forks there once more

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>

#include "program.h"

#define ROUNDS 3000
#define CALLS 200000

static sem_t loaded, begin, done;

APART static int leaf(int n) { return n + 1; }

APART static int look(struct dl_phdr_info *module, size_t size, void *sum) {
    (void)module, (void)size;
    for (int i = 0; i < 20; i++) *(int *)sum = leaf(*(int *)sum);
    return 0;
}

APART static void *churn(void *library) {
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        dl_iterate_phdr(look, &sum);
        dlclose(handle);
    }
    KEEP(sum);
    return NULL;
}

APART static void *busy(void *library) {
    int sum = 0;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    sem_post(&loaded);
    sem_wait(&begin);
    for (int i = 0; i < CALLS; i++) sum = leaf(sum);
    sem_post(&done);
    dlclose(handle);
    KEEP(sum);
    return NULL;
}

APART static int look_and_wait(struct dl_phdr_info *module, size_t size, void *unused) {
    (void)module, (void)size, (void)unused;
    sem_post(&begin);
    sem_wait(&done);
    return 1;
}

QUIET static void *load(void *library) { return dlopen(library, RTLD_NOW); }

// Long after a library was loaded, so that it must be known.
APART static void make_calls(void) {
    int sum = 0;
    usleep(1100000);
    for (int i = 0; i < CALLS; i++) sum = leaf(sum);
    KEEP(sum);
}

APART static int look_and_fork(struct dl_phdr_info *module, size_t size, void *unused) {
    (void)module, (void)size, (void)unused;
    int status = 0;
    pid_t child = fork();
    if (!child) {
        make_calls();
        pid_t other = fork();
        if (!other) make_calls();
        else waitpid(other, &status, 0);
        _exit(status != 0);
    }
    waitpid(child, &status, 0);
    return status ? 2 : 1;
}

int main(int argc, char **argv) {
    if (argc < 3) return 64;
    int waits = !strcmp(argv[1], "wait");
    if (!strcmp(argv[1], "fork")) {
        pthread_t loading;
        pthread_create(&loading, NULL, load, argv[2]);
        pthread_join(loading, NULL);
        if (dl_iterate_phdr(look_and_fork, NULL) == 1) puts("done");
        return 0;
    }
    pthread_t threads[2];
    for (int i = 0; i < 2 && argv[2 + i]; i++) pthread_create(&threads[i], NULL, waits ? busy : churn, argv[2 + i]);
    if (waits) {
        sem_wait(&loaded);
        dl_iterate_phdr(look_and_wait, NULL);
    }
    for (int i = 0; i < 2 && argv[2 + i]; i++) pthread_join(threads[i], NULL);
    puts("done");
}
