// Calls itself something else, as setproctitle does: writes over its arguments, and on over the environment behind
// them. Its children do so, too: one early, one late, one not at all; the last gives itself its old name again.

#define _GNU_SOURCE
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "program.h"

extern char **environ;
static char *area, original[256];
static size_t room, original_size;

QUIET static void find_room(int argc, char **argv) {
    char *end = area = argv[0];
    for (int i = 0; i < argc && argv[i] == end; i++) end += strlen(end) + 1;
    original_size = (size_t)(end - area);
    memcpy(original, area, original_size);
    for (char **next = environ; *next == end; next++) end += strlen(end) + 1;
    room = (size_t)(end - area);
    // As such programs do: what lies there moves away.
    static char copies[65536];
    char *to = copies;
    for (char **next = environ; *next && to + strlen(*next) < copies + sizeof copies; next++) {
        char *from = *next;
        *next = strcpy(to, from);
        to += strlen(from) + 1;
    }
}

APART static void set_title(const char *title) {
    memset(area, 0, room);
    strncpy(area, title, room - 1);
}

APART static int work(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += i & 3;
    return sum;
}

QUIET static void child(const char *early, const char *late) {
    if (fork() != 0) {
        wait(NULL);
        return;
    }
    if (early) set_title(early);
    work(3);
    if (late) set_title(late);
    exit(0);
}

int main(int argc, char **argv) {
    find_room(argc, argv);
    child("early", NULL);
    child(NULL, "late: with a long title, longer than all of the arguments were that the program was started with");
    child(NULL, NULL);
    set_title("title: parent");
    prctl(PR_SET_NAME, "boss");
    child(NULL, NULL);
    memset(area, 0, room);
    memcpy(area, original, original_size);
    child(NULL, NULL);
    printf("%d\n", work(10));
}
