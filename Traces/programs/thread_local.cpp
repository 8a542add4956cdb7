// C++ thread_local objects whose constructors and destructors call traced functions, in threads and in main.

#include <pthread.h>

#include "program.h"

APART static void leaf(int n) { KEEP(n); }

struct Local {
    int uses = 0;
    Local() { leaf(0); }
    ~Local() { leaf(uses); }
    void use() {
        uses++;
        leaf(uses);
    }
};

static thread_local Local local;
static thread_local Local other;

APART static void work(long n) {
    for (long i = 0; i < n; i++) local.use();
    if (n % 2) other.use();
}

static void *body(void *argument) {
    work(reinterpret_cast<long>(argument));
    return nullptr;
}

int main() {
    for (long i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, nullptr, body, reinterpret_cast<void *>(i));
        pthread_join(thread, nullptr);
    }
    work(3);
    printf("uses %d\n", local.uses);
}
