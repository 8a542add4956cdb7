// Six threads load and unload a library and fork. With an argument "locked", their children load it as well, and no
// thread forks while another one loads: glibc's lock of the list of libraries would stay locked in the child.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone))
enum { THREADS = 6, ROUNDS = 20 };

static const char *name;
static int is_locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

KEEP int step(int n) { return n * 3 + 1; }
KEEP int work(int n) { return n ? work(n - 1) + step(n) : 1; }
KEEP int load(void) {
    void *plugin = dlopen(name, RTLD_NOW);
    int (*plugged)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugged") : NULL;
    int result = plugged ? plugged(2) : -1;
    if (plugin) dlclose(plugin);
    return result;
}

static void *run(void *sum) {
    for (int i = 0; i < ROUNDS; i++) {
        if (is_locked) pthread_mutex_lock(&lock);
        *(long *)sum += load() + work(50);
        pid_t child = fork();
        if (child == 0) _exit((work(20) + (is_locked ? load() : 7)) & 127);
        if (is_locked) pthread_mutex_unlock(&lock);
        int status = 0;
        waitpid(child, &status, 0);
        *(long *)sum += WIFEXITED(status) ? WEXITSTATUS(status) : 100000;
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[THREADS];
    long sums[THREADS] = {0}, sum = 0;
    name = arguments[1];
    is_locked = count > 2 && strcmp(arguments[2], "locked") == 0;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, &sums[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += sums[i];
    }
    printf("%ld\n", sum);
    return 0;
}
