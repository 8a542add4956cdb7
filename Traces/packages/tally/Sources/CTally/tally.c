#include "tally.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[128];
    long count;
} entries[256];
static int used;

void tally(const char *function) {
    pthread_mutex_lock(&lock);
    int i = 0;
    while (i < used && strcmp(entries[i].name, function) != 0) i++;
    if (i == used) strncpy(entries[used++].name, function, sizeof entries[0].name - 1);
    entries[i].count++;
    pthread_mutex_unlock(&lock);
}

void tally_print(void) {
    for (int i = 0; i < used; i++) printf("%ld %s\n", entries[i].count, entries[i].name);
}

void repeat_call(int count, void (*body)(int)) {
    tally("repeat_call");
    for (int i = 0; i < count; i++) body(i);
}
