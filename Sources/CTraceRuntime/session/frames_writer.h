// Writes tables for unwinding (Linux Standard Base Core Specification, "Exception Frames").

#ifndef FATHOM_FRAMES_WRITER_H
#define FATHOM_FRAMES_WRITER_H

#include "detours.h"

#define PUT(writer, ...)                                                                                               \
    fathom_move_bytes(writer, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

// An entry of the table, behind its length. It ends at a multiple of `alignment` from the beginning of all.
INTERNAL size_t begin_entry(struct fathom_mover *writer) { return PUT(writer, 0, 0, 0, 0), writer->size; }
INTERNAL void end_entry(struct fathom_mover *writer, size_t begin, size_t alignment) {
    while (writer->size % alignment) PUT(writer, 0);
    uint32_t size = (uint32_t)(writer->size - begin);
    __builtin_memcpy(writer->bytes + begin - sizeof size, &size, sizeof size);
}

// A distance of `target` from where it stands itself.
INTERNAL void put_distance(struct fathom_mover *writer, uintptr_t target) {
    fathom_move_distance(writer, target, (size_t)-4);
}

#endif
