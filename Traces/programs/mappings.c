// Asks from several threads at once what is mapped, and prints how many answers were wrong. Linked with the runtime's
// maps.c and what that needs.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "host/system.h"

#define THREADS 8
#define TIMES 200
#define PAGE 4096u

// Each thread asks for a page of its own, between two that may not be read.
static void *ask(void *wrong) {
    char *pages = mmap(NULL, 3 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_READ)) abort();
    uintptr_t low = (uintptr_t)pages + PAGE;
    for (int i = 0; i < TIMES; i++) {
        struct mapping found = {0, 0, 0};
        int is_found = maps_find(low + (uintptr_t)i % PAGE, &found);
        *(int *)wrong += !is_found || found.low != low || found.high != low + PAGE || found.rights != PROT_READ;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0}, all = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, ask, &wrong[i])) abort();
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        all += wrong[i];
    }
    printf("%d of %d answers are wrong\n", all, THREADS * TIMES);
    return 0;
}
