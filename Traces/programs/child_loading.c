// Forks a child that loads a library before it calls any traced function, calls the library, and dies.
//   child_loading LIBRARY

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

#include "program.h"

APART static int in_parent(int n) { return n + 1; }

int main(int argc, char **argv) {
    if (argc < 2) return 64;
    in_parent(argc);
    pid_t child = fork();
    if (child == 0) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
        int (*run)(int) = (int (*)(int))dlsym(library, "plugin_run");
        for (int i = 0; i < 100; i++) run(i);
        raise(SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    return !WIFSIGNALED(status);
}
