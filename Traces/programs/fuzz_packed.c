// fuzz_packed FATHOM SESSION SCRATCH FIRST COUNT: damages copies of the packed file SESSION, each by a seed from FIRST
// on, and reads each with one command of FATHOM, or unpacks it. Prints what fuzz_damage prints.
//
// A forged copy has sums that hold, so that what they would stop is read; what it shows may be anything then.
#include "CTracePacked.h"
#include "CTraceSum.h"
#include "fuzz.h"
#include "fuzz_commands.h"

// The offset of a random section.
static size_t find_section(struct bytes file) {
    return find_header(file, FATHOM_SECTION_MAGIC, sizeof(struct fathom_packed_section));
}

// Changes fields of the header, or of a section and what is in it, and makes the sums hold.
static void forge(struct bytes file) {
    if (below(8) == 0) {
        struct fathom_packed_header header;
        memcpy(&header, file.start, sizeof header);
        uint64_t value = extreme();
        memcpy((char *)&header + 8 + 4 * below(4), &value, 4);
        header.sum = fathom_hash(&header, sizeof header - 8);
        memcpy(file.start, &header, sizeof header);
        return;
    }
    size_t at = find_section(file), body = at + sizeof(struct fathom_packed_section);
    struct fathom_packed_section section;
    memcpy(&section, file.start + at, sizeof section);
    for (size_t i = below(3); i > 0; i--) {
        uint64_t value = extreme();
        memcpy((char *)&section + 4 + 4 * below(sizeof section / 4 - 3), &value, 4);
    }
    if (section.size <= file.size - body) {
        for (size_t i = below(4); i > 0 && section.size; i--)
            file.start[body + below(section.size)] ^= (unsigned char)(1 << below(8));
        section.sum = fathom_hash(file.start + body, section.size);
        if (section.columns[0] <= section.size)
            section.head_sum = (uint32_t)fathom_hash(file.start + body, section.columns[0]);
    }
    section.header_sum = fathom_hash(&section, sizeof section - 8);
    memcpy(file.start + at, &section, sizeof section);
}

int main(int count, char **arguments) {
    if (count < 6) return 64;
    const char *fathom = arguments[1], *original = arguments[2], *scratch = arguments[3], *name = "s.fathomz";
    char copy[2048], unpack[4096];
    snprintf(copy, sizeof copy, "%s/%s", scratch, name);
    snprintf(unpack, sizeof unpack, "unpack -o %s/u.fathom", scratch);
    mkdir(scratch, 0700);
    block_ends();
    static struct bytes expected[COMMANDS];
    char place[2048];
    snprintf(place, sizeof place, "%s", original);
    char *slash = strrchr(place, '/');
    if (!slash) return 64;
    *slash = 0;
    struct bytes whole = read_file(place, slash + 1);
    struct tally tally = {0, 0, 0, 0};
    long first = atol(arguments[4]);
    for (long seed = first; seed < first + atol(arguments[5]); seed++) {
        state = (uint64_t)(seed + 1) * 0x9e3779b97f4a7c15ull;
        size_t command = below(COMMANDS);
        write_file(scratch, name, whole);
        if (!expected[command].start) {
            run(fathom, commands[command], copy, original, scratch);
            expected[command] = read_file(scratch, "out");
        }
        int is_forged = below(3) == 0, unpacks = below(16) == 0;
        struct bytes changed = {malloc(whole.size + 64), whole.size};
        memcpy(changed.start, whole.start, changed.size);
        if (is_forged) forge(changed);
        else damage(&changed);
        int is_same = changed.size == whole.size && !memcmp(changed.start, whole.start, changed.size);
        write_file(scratch, name, changed);
        free(changed.start);
        const char *words = unpacks ? unpack : commands[command];
        int status = run(fathom, words, copy, original, scratch);
        struct bytes out = read_file(scratch, "out"), errors = read_file(scratch, "err");
        judge(&tally, seed, words, name, status, expected[command], out, errors, is_same || is_forged || unpacks);
        free(out.start), free(errors.start);
    }
    return report(tally);
}
