// cputime FILE PROGRAM ARGUMENTS...: writes user and system CPU seconds, wall seconds and peak KB of PROGRAM, and of
// the children it waited for, to FILE.
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return time.tv_sec + time.tv_usec / 1e6; }

int main(int count, char **arguments) {
    struct timespec start, end;
    struct rusage usage;
    int status;
    if (count < 3) return 64;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) execvp(arguments[2], arguments + 2), _exit(127);
    wait4(child, &status, 0, &usage);
    clock_gettime(CLOCK_MONOTONIC, &end);
    FILE *file = fopen(arguments[1], "w");
    if (!file) return 1;
    fprintf(file, "%.6f %.6f %ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime),
            (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9, usage.ru_maxrss);
    fclose(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
