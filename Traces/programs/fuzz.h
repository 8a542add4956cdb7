// What the fuzzers share: seeded random numbers, files as bytes, and running a command with patience.

#pragma once

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

struct bytes {
    unsigned char *start;
    size_t size;
};

static uint64_t state;
static uint64_t next(void) {  // xorshift64*, S. Vigna 2016
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 2685821657736338717ull;
}
static size_t below(size_t bound) { return bound ? next() % bound : 0; }

static struct bytes read_file(const char *directory, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    struct bytes bytes = {NULL, 0};
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0) return bytes;
    fstat(file, &status);
    // Buffers are sparse: what is behind the slots in use is nothing.
    bytes.size = status.st_size < 1 << 21 ? (size_t)status.st_size : 1 << 21;
    bytes.start = calloc(1, bytes.size + 64);
    if (read(file, bytes.start, bytes.size) != (ssize_t)bytes.size) exit(1);
    close(file);
    return bytes;
}

static void write_file(const char *directory, const char *name, struct bytes bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
    if (!bytes.start) return;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || write(file, bytes.start, bytes.size) != (ssize_t)bytes.size) exit(1);
    close(file);
}

static uint64_t extreme(void) {
    static const uint64_t values[] = {0, 1, UINT64_MAX, INT64_MAX, 1ull << 63, UINT32_MAX, INT32_MAX, 1ull << 31};
    return next() % 3 ? values[below(8)] : next();
}

static void damage(struct bytes *file) {
    size_t end = file->size, at = below(end), length = 1 + below(300);
    if (at + length > end) length = end - at;
    switch (below(6)) {
    case 0: file->size = at; break;
    case 1:
        for (size_t i = 1 + below(8); i > 0; i--) file->start[below(end)] ^= (unsigned char)(1 << below(8));
        break;
    case 2:
        for (size_t i = 1 + below(4); i > 0; i--) {
            uint64_t value = extreme();
            size_t place = below(end) & ~7ul;
            if (place + 8 <= end) memcpy(file->start + place, &value, next() % 2 ? 4 : 8);
        }
        break;
    case 3: memset(file->start + at, below(2) ? 0 : 255, length); break;
    case 4:  // something is missing
        memmove(file->start + at, file->start + at + length, end - at - length);
        file->size -= length;
        break;
    case 5:  // something is there twice, in another's place
        memmove(file->start + below(end - length + 1), file->start + at, length);
        break;
    }
}

// Runs a command on the session; returns its wait status, or -1 when it takes too long.
static int run(const char *fathom, const char *command, const char *session, const char *original,
               const char *scratch) {
    char words[256], out[4096], errors[4096], *arguments[24] = {(char *)fathom};
    int count = 1, placed = 0;
    snprintf(words, sizeof words, "%s", command);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        arguments[count++] = strcmp(word, "WHOLE") ? word : (char *)original;
        if (!placed++) arguments[count++] = (char *)session;
    }
    snprintf(out, sizeof out, "%s/out", scratch), snprintf(errors, sizeof errors, "%s/err", scratch);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    pid_t child;
    if (posix_spawn(&child, fathom, &actions, NULL, arguments, environ)) exit(1);
    posix_spawn_file_actions_destroy(&actions);
    sigset_t ended;
    sigemptyset(&ended), sigaddset(&ended, SIGCHLD);
    struct timespec patience = {20, 0};
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (sigtimedwait(&ended, NULL, &patience) >= 0 || errno != EAGAIN) continue;
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return -1;
    }
    return status;
}

// Lets run() wait for its command's end.
static void block_ends(void) {
    sigset_t ended;
    sigemptyset(&ended), sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
}

struct tally {
    long bad, silent, told, alike;
};

// Counts what a command on a damaged `file` came to, and prints what should not be. With `may_differ` it may show
// something else than `expected` without a word.
static void judge(struct tally *tally, long seed, const char *command, const char *file, int status,
                  struct bytes expected, struct bytes out, struct bytes errors, int may_differ) {
    int differs = out.size != expected.size || memcmp(out.start, expected.start, out.size);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (status == -1 || code < 0 || (code > 2 && code != 64) || (code && !errors.size)) {
        tally->bad++;
        printf("seed %ld: %s on damaged %s: %s %d\n%.300s\n", seed, command, file,
               status == -1        ? "took more than 20 s"
               : WIFEXITED(status) ? "exit status"
                                   : "signal",
               WIFEXITED(status) ? code : WTERMSIG(status), (char *)errors.start);
    } else if (code == 0 && errors.size == 0 && differs && !may_differ) {
        tally->silent++;
        printf("seed %ld: %s on damaged %s: shows something else without a word\n", seed, command, file);
    } else if (differs || errors.size) tally->told++;
    else tally->alike++;
}

// Prints what all came to; returns the exit status.
static int report(struct tally tally) {
    printf("%ld bad, %ld silent, %ld told, %ld alike\n", tally.bad, tally.silent, tally.told, tally.alike);
    return tally.bad || tally.silent;
}
