// Starts as many threads as asked for, one after the other; each makes one call.
#include <pthread.h>
#include <stdlib.h>

static void *begin(void *argument) { return argument; }

int main(int count, char **words) {
    for (int number = count > 1 ? atoi(words[1]) : 1000; number > 0; number--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, begin, NULL) || pthread_join(thread, NULL)) return 1;
    }
}
