// A server of sorts: `requests COUNT SLOW [how]` handles so many requests, each with a few calls, and the one with
// number SLOW takes 300 ms. `how` says what happens after that one: `save` (the program asks for a save), `abort`,
// `hang` (it takes for ever), `nested` (it calls itself
// ten times, each call 20 ms after the other), `deep` (it was called by 400 others, which end
// with it), `daemon` (the same in a child, whose parent has ended). TRUTH receives the process id.

#include <string.h>
#include <time.h>

#include "program.h"
#include <fathom.h>

APART static int parse(int n) { return n * 7 + 1; }

APART static int look_up(int n) { return parse(n) ^ 3; }

APART static void wait_for_disk(void) {
    struct timespec time = {0, 300000000};
    nanosleep(&time, NULL);
}

APART static int handle(int n, int is_slow) {
    int sum = parse(n) + look_up(n);
    if (is_slow > 1) sum += handle(n, is_slow - 1);
    if (is_slow == 1) wait_for_disk();
    if (is_slow > 1) nanosleep(&(struct timespec){0, 20000000}, NULL);
    return sum + look_up(sum);
}

APART static int serve(int n, int depth) {
    int sum = depth > 0 ? serve(n, depth - 1) : handle(n, 1);
    return sum + depth;
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000, slow = argc > 2 ? atoi(argv[2]) : -1, sum = 0;
    const char *how = argc > 3 ? argv[3] : "";
    int slow_levels = strcmp(how, "nested") ? 1 : 11;
    if (!strcmp(how, "daemon")) {
        if (fork()) return 0;
        how = "hang";
    }
    FILE *truth = truth_open();
    if (truth) {
        fprintf(truth, "%d\n", getpid());
        fclose(truth);
    }
    for (int n = 0; n < count; n++) {
        if (n == slow && !strcmp(how, "hang")) fathom_mark("about to hang");
        sum += n == slow && !strcmp(how, "deep") ? serve(n, 399) : handle(n, n == slow ? slow_levels : 0);
        if (n != slow) continue;
        if (!strcmp(how, "save")) fathom_save();
        if (!strcmp(how, "abort")) abort();
        if (!strcmp(how, "hang")) pause();
    }
    KEEP(sum);
    return 0;
}
