// fuzz_damage FATHOM SESSION SCRATCH FIRST COUNT: damages copies of SESSION, each by a seed from FIRST on, and reads
// each with one command of FATHOM. Below SCRATCH it makes what it needs. Prints the seeds at which the command dies of
// a signal, takes more than 20 s, ends as it should not, or shows something else than of the whole session without a
// word about it.
//
// A forged copy has sums that hold, so that what they would stop is read; what it shows may be anything then.
#include "CTraceSum.h"
#include "fuzz.h"
#include "fuzz_commands.h"

#define FILES 3
static const char *const names[FILES] = {"trace", "session.json", "buffers"};
static struct bytes whole[FILES];

// The offset of a random chunk's header.
static size_t find_chunk(struct bytes file) {
    return find_header(file, FATHOM_CHUNK_MAGIC, sizeof(struct fathom_chunk));
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

// As a word that is written over, in a header.
static void damage_header(struct bytes *file) {
    size_t place = (find_chunk(*file) + below(sizeof(struct fathom_chunk))) & ~3ul;
    uint64_t value = extreme();
    if (place + 8 <= file->size) memcpy(file->start + place, &value, next() % 2 ? 4 : 8);
}

int main(int count, char **arguments) {
    if (count < 6) return 64;
    const char *fathom = arguments[1], *original = arguments[2], *scratch = arguments[3];
    char session[2048];
    snprintf(session, sizeof session, "%s/s.fathom", scratch);
    mkdir(scratch, 0700), mkdir(session, 0700);
    block_ends();
    static struct bytes expected[COMMANDS];
    for (int i = 0; i < FILES; i++) whole[i] = read_file(original, names[i]);
    struct tally tally = {0, 0, 0, 0};
    long first = atol(arguments[4]);
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
        else if (below(7) == 0) damage_header(&copy);
        else damage(&copy);
        int is_same = copy.size == whole[which].size && !memcmp(copy.start, whole[which].start, copy.size);
        write_file(session, names[which], copy);
        free(copy.start);
        int status = run(fathom, commands[command], session, original, scratch);
        struct bytes out = read_file(scratch, "out"), errors = read_file(scratch, "err");
        // What is in the buffers has no sums.
        judge(&tally, seed, commands[command], names[which], status, expected[command], out, errors,
              is_same || is_forged || which == 2);
        free(out.start), free(errors.start);
    }
    return report(tally);
}
