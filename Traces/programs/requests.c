// A server of sorts: `requests COUNT SLOW [how]` handles so many requests, each with a few calls, and the one with
// number SLOW takes 300 ms, or WAIT_MS. `how` says what is special about that one: `save` (the program asks for a save
// then), `abort`, `hang` (it takes for ever), `large` (it handles 100,000 others, too), `nested` (it calls itself ten
// times, each call ends 20 ms after the other), `deep` (it was called by 400 others, which end with it), `daemon` (it
// hangs in a child, whose parent has ended). TRUTH receives the process id.

#include <string.h>
#include <time.h>

#include "program.h"
#include <fathom.h>

APART static int parse(int n) { return n * 7 + 1; }

APART static int look_up(int n) { return parse(n) ^ 3; }

APART static void wait_for_disk(void) {
    const char *told = getenv("WAIT_MS");
    long wait = told ? atol(told) : 300;
    nanosleep(&(struct timespec){wait / 1000, wait % 1000 * 1000000}, NULL);
}

APART static int handle(int n, int is_slow) {
    int sum = parse(n) + look_up(n);
    if (is_slow > 1) sum += handle(n, is_slow - 1);
    if (is_slow == 1) wait_for_disk();
    if (is_slow > 1) nanosleep(&(struct timespec){0, 20000000}, NULL);
    return sum + look_up(sum);
}

APART static int handle_all(int n) {
    int sum = handle(n, 1);
    for (int other = 0; other < 100000; other++) sum += handle(other, 0);
    return sum;
}

APART static int serve(int n, int depth) {
    int sum = depth > 0 ? serve(n, depth - 1) : handle(n, 1);
    return sum + depth;
}

APART static int handle_slow(int n, const char *how) {
    if (!strcmp(how, "large")) return handle_all(n);
    if (!strcmp(how, "deep")) return serve(n, 399);
    return handle(n, strcmp(how, "nested") ? 1 : 11);
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000, slow = argc > 2 ? atoi(argv[2]) : -1, sum = 0;
    const char *how = argc > 3 ? argv[3] : "";
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
        sum += n == slow ? handle_slow(n, how) : handle(n, 0);
        if (n != slow) continue;
        if (!strcmp(how, "save")) fathom_save();
        if (!strcmp(how, "abort")) abort();
        if (!strcmp(how, "hang")) pause();
    }
    KEEP(sum);
    return 0;
}
