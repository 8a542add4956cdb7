// finetimes TRACE STEP: gives a plain log times as a finer clock would have told them. Each moment gets 0 to STEP - 1
// ticks added at random, and all sums hold again. Times that are as long as a record can tell stay as they are.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "CTraceSum.h"

static uint64_t state = 88172645463325252ull;
static int below(int bound) {  // xorshift, G. Marsaglia 2003
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int)(state >> 20) % bound;
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    int file = open(arguments[1], O_RDWR), step = atoi(arguments[2]);
    struct stat status;
    if (file < 0 || fstat(file, &status) || step < 1) return 1;
    size_t size = (size_t)status.st_size;
    char *log = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (log == MAP_FAILED) return 1;
    size_t at = ((struct fathom_trace_header *)log)->header_size;
    while (at + sizeof(struct fathom_chunk) <= size) {
        struct fathom_chunk *chunk = (struct fathom_chunk *)(log + at);
        char *payload = log + at + sizeof *chunk;
        if (chunk->magic != FATHOM_CHUNK_MAGIC || chunk->used > size - at - sizeof *chunk) break;
        char *record = payload + chunk->path_count * sizeof(struct fathom_path_entry), *end = payload + chunk->used;
        int added = 0;
        while (chunk->kind == FATHOM_CHUNK_RECORDS && end - record >= 2) {
            uint16_t unit;
            memcpy(&unit, record, sizeof unit);
            int time = unit >> 1;
            if ((unit & 1) || time < (int)FATHOM_SPECIAL) {
                // Moments stay in order: what follows at once is not before what was.
                int next = time ? below(step) : added + below(step - added), fine = time + next - added;
                if (fine >= 0 && fine < (int)FATHOM_SPECIAL) {
                    unit = (uint16_t)(fine << 1 | (unit & 1));
                    memcpy(record, &unit, sizeof unit);
                    added = next;
                }
            }
            record += fathom_record_size(record, (size_t)(end - record));
        }
        chunk->payload_sum = fathom_payload_sum(chunk->flags, payload, chunk->used);
        chunk->header_sum = fathom_header_sum(*chunk);
        at += (sizeof *chunk + chunk->used + 7) & ~7ul;
    }
    return 0;
}
