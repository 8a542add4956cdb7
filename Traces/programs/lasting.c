// lasting LIBRARY END [again]: goes round so often, or, where END is no number, until a file of that name is there.
// Each round takes about two milliseconds and calls functions of its own and of the library, which is loaded anew now
// and then where that is asked for; some rounds start a thread that waits for a lock, or a child that ends soon, or
// take long. With -DLIBRARY it is the library. -DGENERATION=word begins the names of its functions, and -DSHIFTED moves
// them: whoever names functions by another build tells a word that is not this one's, which it prints when it starts.

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>

#include "program.h"

#ifndef GENERATION
#define GENERATION first
#endif
#define JOINED(word, name) word##_##name
#define JOIN(word, name) JOINED(word, name)
#define NAMED(name) JOIN(GENERATION, name)
#define TEXT(word) #word
#define WORD(word) TEXT(word)

#ifdef SHIFTED
APART int NAMED(shift)(int n) { return n * 3 + n / 7; }
int (*volatile shifted)(int) = NAMED(shift);
#endif

#ifdef LIBRARY

APART static int NAMED(leaf)(int n) {
    int sum = 0;
    for (int i = 0; i < 20000; i++) {
        sum += i ^ n;
        KEEP(sum);
    }
    return sum;
}

int inside(int n) { return NAMED(leaf)(n) + 1; }

#else

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

QUIET static void rest(long microseconds) { nanosleep(&(struct timespec){0, microseconds * 1000}, NULL); }

APART static int NAMED(spin)(int n) {
    int sum = 0;
    for (int i = 0; i < 100000; i++) {
        sum += i * n;
        KEEP(sum);
    }
    return sum;
}

APART static void *NAMED(thread)(void *argument) {
    pthread_mutex_lock(&lock);
    NAMED(spin)(3);
    pthread_mutex_unlock(&lock);
    return argument;
}

APART static void NAMED(wait)(void) {
    pthread_t thread;
    pthread_mutex_lock(&lock);
    if (pthread_create(&thread, NULL, NAMED(thread), NULL)) abort();
    rest(1000);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}

APART static void NAMED(child)(void) {
    pid_t child = fork();
    if (child == 0) {
        NAMED(spin)(5);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

APART static void NAMED(slow)(void) { rest(30000); }

APART static void NAMED(load)(void **library, const char *path) {
    if (*library) dlclose(*library);
    *library = dlopen(path, RTLD_NOW);
    if (!*library) abort();
}

APART static void NAMED(round)(int n, void **library) {
    int (*inside)(int) = (int (*)(int))dlsym(*library, "inside");
    int sum = inside(n) + NAMED(spin)(n);
    KEEP(sum);
    if (n % 8 == 3) NAMED(wait)();
    if (n % 16 == 5) NAMED(child)();
    if (n % 64 == 7) NAMED(slow)();
    rest(1000);
}

int main(int argc, char **argv) {
    void *library = NULL;
    if (argc < 3) return 1;
    puts(WORD(GENERATION));
    fflush(stdout);
    int rounds = atoi(argv[2]);
    for (int n = 0; rounds ? n < rounds : access(argv[2], F_OK); n++) {
        if (n == 0 || (argc > 3 && n % 8 == 0)) NAMED(load)(&library, argv[1]);
        NAMED(round)(n, &library);
    }
    return 0;
}

#endif
