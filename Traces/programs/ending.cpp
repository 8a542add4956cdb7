// The many ends of a process, each from 20 calls deep; the argument says which.
//   exit quick_exit _exit abort segv kill term throw return

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "program.h"

static const char *kind = "exit";
static int *volatile nowhere;

APART static void leaf(int n) { KEEP(n); }

APART static void at_exit() {
    leaf(1);
    printf("atexit\n");
}

APART static void at_quick_exit() {
    leaf(2);
    printf("at_quick_exit\n");
    fflush(stdout);
}

struct Static {
    Static() { leaf(3); }
    ~Static() {
        leaf(4);
        printf("destructor\n");
    }
};
static Static object;

__attribute__((destructor)) static void destructor() { leaf(5); }

APART static void end() {
    leaf(6);
    if (!strcmp(kind, "exit")) exit(41);
    if (!strcmp(kind, "quick_exit")) quick_exit(42);
    if (!strcmp(kind, "_exit")) _exit(43);
    if (!strcmp(kind, "abort")) abort();
    if (!strcmp(kind, "segv")) *nowhere = 1;
    if (!strcmp(kind, "kill")) raise(SIGKILL);
    if (!strcmp(kind, "term")) raise(SIGTERM);
    if (!strcmp(kind, "throw")) throw std::runtime_error("nobody catches this");
}

APART static void deep(int level) {
    if (level == 0) return end();
    deep(level - 1);
    leaf(level);
}

int main(int argc, char **argv) {
    if (argc > 1) kind = argv[1];
    atexit(at_exit);
    std::at_quick_exit(at_quick_exit);
    printf("begin\n");
    fflush(stdout);
    deep(20);
    return 44;
}
