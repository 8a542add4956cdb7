// main of csmith's programs: what they do is done once, or, with a second argument, by so many children one after the
// other. A program of csmith's is right only once, because it leaves its global variables changed.

#include <sys/wait.h>
#include <unistd.h>

QUIET static int run_once(void) {
    char name[] = "program", hashes[] = "1", *arguments[] = {name, hashes, NULL};
    return differential_main(1, arguments);
}

int main(int argc, char **argv) {
    int rounds = argc > 2 ? atoi(argv[2]) : 0, status = 0;
    if (!rounds) return run_once();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < rounds; i++) {
        pid_t child = fork();
        if (child == 0) exit(run_once());
        if (child < 0 || waitpid(child, &status, 0) != child || status) {
            printf("child %d: status %d\n", i, status);
            return 1;
        }
        usleep(2000);
    }
    return 0;
}
