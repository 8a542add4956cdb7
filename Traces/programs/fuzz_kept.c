// fuzz_kept FATHOM SESSION SCRATCH FIRST COUNT: damages the sums that are kept beside SESSION, which is large enough
// for them to be, each time by a seed from FIRST on, and reads them with one command of FATHOM. Prints the seeds at
// which the command dies of a signal, takes more than 20 s, ends as it should not, or shows something else than of
// whole sums. What is damaged is to be made anew, so that differs is never right, said or not.
//
// Forged sums have checksums that hold, so that what those would stop is read; what they show may be anything then.
#include "fuzz.h"

#include <dirent.h>

static const char *const commands[] = {
    "report",
    "report --format json",
    "report --by path",
    "report --by path --format csv",
    "report --by file",
    "report --by module --format json",
    "report --by thread",
    "report --by process",
    "report --callers path_3",
    "report --callees path_0",
    "report --sort calls -D5",
    "report -F path_4",
    "report -N path_5 --by path",
    "report -H path_6",
    "report --raw-names",
    "graph",
    "graph path_2",
    "graph path_2 --format json",
    "flame -o -",
    "flame --inverted -o -",
    "tune",
    "tune --format json",
    "diff WHOLE",
    "diff WHOLE --by path",
    "export -o - --format folded",
    "info",
};
#define COMMANDS (sizeof commands / sizeof *commands)

// The layout in KeptSums.swift: words of 8 bytes, of which three tell of each section where it is, its size and its
// checksum.
enum { SECTIONS = 5, FIRST_PLACE = 5, WORDS = FIRST_PLACE + 3 * SECTIONS + 1 };

// FNV-1a over words of 8 bytes.
static uint64_t sum(const unsigned char *bytes, size_t size) {
    uint64_t value = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        value = (value ^ word) * 0x100000001b3ull;
    }
    return value;
}

// Writes a number into LEB128's bytes from `at` on, over what is there.
static void put_number(struct bytes file, size_t at, uint64_t value) {
    for (; at < file.size && value >= 128; at++, value >>= 7) file.start[at] = (unsigned char)(value | 128);
    if (at < file.size) file.start[at] = (unsigned char)value;
}

// Changes numbers of a section, or the places of sections, and makes the checksums hold.
static void forge(struct bytes file) {
    uint64_t words[WORDS];
    memcpy(words, file.start, sizeof words);
    uint64_t *place = words + FIRST_PLACE + 3 * below(SECTIONS);
    if (below(8) == 0) place[below(2)] = below(2) ? extreme() : below(file.size);
    size_t begin = place[0], size = place[1];
    if (begin <= file.size && size <= file.size - begin) {
        // What is at a section's beginning steers the rest.
        for (size_t i = below(4) + 1; i > 0 && size > 0; i--) {
            size_t at = begin + (below(2) ? below(size) : below(size < 64 ? size : 64));
            switch (below(4)) {
            case 0: put_number((struct bytes){file.start, begin + size}, at, extreme()); break;
            case 1: put_number((struct bytes){file.start, begin + size}, at, below(300)); break;
            case 2: file.start[at] ^= (unsigned char)(1 << below(8)); break;
            case 3: file.start[at] = (unsigned char)next(); break;
            }
        }
        if (size > 0 && below(8) == 0) place[1] = size -= below(size);
        place[2] = sum(file.start + begin, size);
    }
    words[WORDS - 1] = sum((unsigned char *)words, 8 * (WORDS - 1));
    memcpy(file.start, words, sizeof words);
}

// Removes the sums, and what was left of writing them.
static void remove_sums(const char *session) {
    DIR *directory = opendir(session);
    for (struct dirent *entry; directory && (entry = readdir(directory));)
        if (!strncmp(entry->d_name, "aggregate", 9)) unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory) closedir(directory);
}

int main(int count, char **arguments) {
    if (count < 6) return 64;
    const char *fathom = arguments[1], *session = arguments[2], *scratch = arguments[3];
    mkdir(scratch, 0700);
    block_ends();
    // Sums are kept of a log that has not changed for two seconds.
    sleep(3);
    remove_sums(session);
    if (run(fathom, "report", session, session, scratch) != 0) return 1;
    struct bytes whole = read_file(session, "aggregate");
    if (whole.size < 8 * WORDS) return printf("no sums are kept beside %s\n", session), 1;
    static struct bytes expected[COMMANDS];
    struct tally tally = {0, 0, 0, 0};
    long first = atol(arguments[4]);
    for (long seed = first; seed < first + atol(arguments[5]); seed++) {
        state = (uint64_t)(seed + 1) * 0x9e3779b97f4a7c15ull;
        size_t command = below(COMMANDS);
        if (!expected[command].start) {
            write_file(session, "aggregate", whole);
            run(fathom, commands[command], session, session, scratch);
            expected[command] = read_file(scratch, "out");
        }
        int is_forged = below(2) == 0;
        struct bytes copy = {malloc(whole.size + 64), whole.size};
        memcpy(copy.start, whole.start, copy.size);
        if (is_forged) forge(copy);
        else damage(&copy);
        write_file(session, "aggregate", copy);
        free(copy.start);
        int status = run(fathom, commands[command], session, session, scratch);
        struct bytes out = read_file(scratch, "out"), errors = read_file(scratch, "err");
        int differs = out.size != expected[command].size || memcmp(out.start, expected[command].start, out.size);
        if (!is_forged && differs && errors.size) {
            // The log is whole: nothing that is said makes up for it.
            tally.bad++;
            printf("seed %ld: %s on damaged sums: %.300s\n", seed, commands[command], (char *)errors.start);
        } else judge(&tally, seed, commands[command], "sums", status, expected[command], out, errors, is_forged);
        free(out.start), free(errors.start);
    }
    remove_sums(session);
    return report(tally);
}
