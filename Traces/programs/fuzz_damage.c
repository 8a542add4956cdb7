// fuzz_damage FATHOM SESSION SCRATCH FIRST COUNT: damages copies of SESSION, each by a seed from FIRST on, and reads each with one
// command of FATHOM. Below SCRATCH it makes what it needs. Prints the seeds at which the command dies of a signal, takes more
// than 20 s, ends as it should not, or shows something else than of the whole session without a word about it.
//
// A forged copy has sums that hold, so that what they would stop is read; what it shows may be anything then.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "CTraceSum.h"

extern char **environ;

#define FILES 3
static const char *const names[FILES] = {"trace", "session.json", "buffers"};
struct bytes {
    unsigned char *start;
    size_t size;
};
static struct bytes whole[FILES];

static const char *const commands[] = {
    "info",  "info --format json", "tree", "tree --sort time --limit 30", "tree --format json --lines", "report",
    "report --by path --format json", "report --by thread --format csv", "report --by module --no-cache", "graph",
    "graph main --format json", "flame -o -", "dump", "dump --format jsonl", "tune", "diff WHOLE", "diff WHOLE --by path",
    "export -o - --format perfetto", "export -o - --format chrome", "export -o - --format speedscope",
    "export -o - --format firefox", "export -o - --format folded", "export -o - --format pprof",
    "export -o - --format callgrind", "export -o - --format dot", "export -o - --format csv",
    "export -o - --format parquet", "tree --process * --thread main -D2 -t1ns --from 1us --to 1s", "flame --time-order -o -",
};
#define COMMANDS (sizeof commands / sizeof *commands)

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

// The offset of a random chunk's header.
static size_t find_chunk(struct bytes file) {
    size_t found = 0, count = 0;
    for (size_t at = 0; at + sizeof(struct fathom_chunk) <= file.size; at += 8) {
        uint32_t magic;
        memcpy(&magic, file.start + at, sizeof magic);
        if (magic == FATHOM_CHUNK_MAGIC && below(++count) == 0) found = at;
    }
    return found;
}

// Changes a field of a file or chunk header, or a few words of a payload, and makes the sums hold.
static void forge(struct bytes file) {
    struct fathom_trace_header head;
    struct fathom_chunk chunk;
    size_t at = below(4) ? find_chunk(file) : 0;
    size_t header = at ? sizeof chunk : sizeof head, from = at + (below(3) ? 4 + below(header - 8) : header);
    uint64_t value = extreme();
    for (size_t i = below(3) + 1; i > 0; i--) {
        size_t place = from < at + header ? from & ~3ul : at + header + (below(256) & ~7ul);
        if (place + 8 <= file.size) memcpy(file.start + place, &value, next() % 2 ? 4 : 8);
    }
    if (at && at + sizeof chunk <= file.size) {
        memcpy(&chunk, file.start + at, sizeof chunk);
        if (chunk.used <= file.size - at - sizeof chunk)
            chunk.payload_sum = fathom_payload_sum(chunk.flags, file.start + at + sizeof chunk, chunk.used);
        chunk.header_sum = fathom_header_sum(chunk);
        memcpy(file.start + at, &chunk, sizeof chunk);
    } else if (!at && file.size >= sizeof head) {
        memcpy(&head, file.start, sizeof head);
        head.start_sum = fathom_start_sum(head), head.end_sum = fathom_end_sum(head);
        memcpy(file.start, &head, sizeof head);
    }
}

static void damage(struct bytes *file) {
    size_t end = file->size, at = below(end), length = 1 + below(300);
    if (at + length > end) length = end - at;
    switch (below(7)) {
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
    case 6: {  // as 2, in a header
        size_t chunk = find_chunk(*file), place = (chunk + below(sizeof(struct fathom_chunk))) & ~3ul;
        uint64_t value = extreme();
        if (place + 8 <= end) memcpy(file->start + place, &value, next() % 2 ? 4 : 8);
    }
    }
}

// Runs a command on the session; returns its wait status, or -1 when it takes too long.
static int run(const char *fathom, const char *command, const char *session, const char *original, const char *scratch) {
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

int main(int count, char **arguments) {
    if (count < 6) return 64;
    const char *fathom = arguments[1], *original = arguments[2], *scratch = arguments[3];
    char session[2048];
    snprintf(session, sizeof session, "%s/s.fathom", scratch);
    mkdir(scratch, 0700), mkdir(session, 0700);
    sigset_t ended;
    sigemptyset(&ended), sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, NULL);
    static struct bytes expected[COMMANDS];
    for (int i = 0; i < FILES; i++) whole[i] = read_file(original, names[i]);
    long bad = 0, silent = 0, told = 0, alike = 0, first = atol(arguments[4]);
    for (long seed = first; seed < first + atol(arguments[5]); seed++) {
        state = (uint64_t)(seed + 1) * 0x9e3779b97f4a7c15ull;
        size_t command = below(COMMANDS);
        for (int i = 0; i < FILES; i++) write_file(session, names[i], whole[i]);
        if (!expected[command].start) {
            run(fathom, commands[command], session, original, scratch);
            expected[command] = read_file(scratch, "out");
        }
        size_t which = below(8);
        which = which == 6 ? 1 : which == 7 && whole[2].start ? 2 : 0;
        int is_forged = which == 0 && below(3) == 0;
        struct bytes copy = {malloc(whole[which].size + 64), whole[which].size};
        memcpy(copy.start, whole[which].start, copy.size);
        if (is_forged) forge(copy);
        else damage(&copy);
        int is_same = copy.size == whole[which].size && !memcmp(copy.start, whole[which].start, copy.size);
        write_file(session, names[which], copy);
        free(copy.start);
        int status = run(fathom, commands[command], session, original, scratch);
        struct bytes out = read_file(scratch, "out"), errors = read_file(scratch, "err");
        int differs = out.size != expected[command].size || memcmp(out.start, expected[command].start, out.size);
        // What is in the buffers has no sums.
        int is_silent = WIFEXITED(status) && WEXITSTATUS(status) == 0 && errors.size == 0 && differs && !is_same &&
                        !is_forged && which != 2;
        if (status == -1 || !WIFEXITED(status) || (WEXITSTATUS(status) > 2 && WEXITSTATUS(status) != 64) || (WEXITSTATUS(status) && !errors.size)) {
            bad++;
            printf("seed %ld: %s on damaged %s: %s %d\n%.300s\n", seed, commands[command], names[which],
                   status == -1 ? "took more than 20 s" : WIFEXITED(status) ? "exit status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), (char *)errors.start);
        } else if (is_silent) {
            silent++;
            printf("seed %ld: %s on damaged %s: shows something else without a word\n", seed, commands[command], names[which]);
        } else if (differs || errors.size) told++;
        else alike++;
        free(out.start), free(errors.start);
    }
    printf("%ld bad, %ld silent, %ld told, %ld alike\n", bad, silent, told, alike);
    return bad || silent;
}
