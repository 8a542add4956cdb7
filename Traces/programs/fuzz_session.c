// fuzz_session DIRECTORY COUNT: opens COUNT mutations of the `buffers` file that DIRECTORY holds as the runtime does,
// and writes into slots of those that it takes for sound. Linked with the runtime's session.c and the address
// sanitizer.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/runtime.h"
#include "session/session.h"

struct runtime runtime;
_Alignas(PAGE_SIZE) union steering steering;

static uint64_t state = 1;

static uint32_t next(uint32_t bound) {  // xorshift64*, S. Vigna 2016
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return (uint32_t)((state * 2685821657736338717ull) >> 32) % bound;
}

static void close_session(void) {
    for (unsigned i = 0; i < sizeof runtime.windows / sizeof *runtime.windows; i++)
        if (runtime.windows[i]) munmap(runtime.windows[i], (size_t)runtime.window_slots * runtime.slot_size);
    if (runtime.buffers) munmap(runtime.buffers, runtime.slots_offset);
    memset(&runtime, 0, sizeof runtime);
}

int main(int count, char **arguments) {
    if (count < 3) return 64;
    char path[4096], variable[4096];
    snprintf(path, sizeof path, "%s/buffers", arguments[1]);
    snprintf(variable, sizeof variable, "FATHOM_SESSION=%s", arguments[1]);
    char *environment[] = {variable, NULL};
    struct fathom_buffers original;
    struct stat file;
    int descriptor = open(path, O_RDWR);
    if (descriptor < 0 || read(descriptor, &original, sizeof original) != sizeof original) return 1;
    fstat(descriptor, &file);
    int opened = 0, taken = 0;
    for (int i = 0; i < atoi(arguments[2]); i++) {
        unsigned char bytes[sizeof original];
        memcpy(bytes, &original, sizeof bytes);
        for (uint32_t flips = next(4); flips > 0; flips--) bytes[next(sizeof bytes)] ^= (unsigned char)(1 + next(255));
        pwrite(descriptor, bytes, sizeof bytes, 0);
        if (i % 10 == 0 && ftruncate(descriptor, next(1 << 18))) return 1;
        if (session_open(environment)) {
            opened++;
            uint32_t slot;
            size_t size;
            struct fathom_chunk *chunk = session_take_slot(16384, i % 2, &slot, &size);
            if (chunk) {
                memset(chunk, 0x5a, size);
                session_give_slot(slot);
                taken++;
            }
        }
        close_session();
        if (i % 10 == 0 && ftruncate(descriptor, file.st_size)) return 1;
    }
    printf("%d of them opened\n", opened);
    return opened == 0 || taken == 0;
}
