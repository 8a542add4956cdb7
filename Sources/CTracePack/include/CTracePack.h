// Turns records into columns that compress well, and back, byte by byte.
//
// Programs take the same calls again and again. Each enter is looked for, by its call site and function, in a cache;
// what is found there is a number of two bytes, and so is an exit. What happened, the times between, and all else are a
// column each. The records of a frame are two halves with columns of their own and a cache each, because a processor
// does two that have nothing to do with each other in the time of one.
//
// Pure functions: they allocate nothing, and touch only the memory that they are given. Reading checks every access, so
// any bytes may be read.

#ifndef CTRACEPACK_H
#define CTRACEPACK_H

#include <stddef.h>
#include <stdint.h>

// What happened, in two bytes:
#define FATHOM_PACK_EXIT 0u   // an exit
#define FATHOM_PACK_OTHER 1u  // a record as it is, in the rest
#define FATHOM_PACK_MISS 2u   // an enter whose call site and function are in the rest, and from then on in the cache
#define FATHOM_PACK_FIRST 3u  // from here on, an enter: the place in the cache
#define FATHOM_PACK_CACHE_BITS 11
// An OTHER that begins so: the piece ends with bytes that are no records, which follow. No record but an enter begins
// with an odd number, and an enter is never OTHER.
#define FATHOM_PACK_TAIL 0xffffu
// The byte of a time that is this, or more, in ticks: the time is in the rest, in two bytes.
#define FATHOM_PACK_LONG 255u

// The records of one chunk.
struct fathom_pack_piece {
    uint8_t *bytes;
    size_t size;
};

// Where the columns of one half go to or come from. Writing needs room in `happened` and `rest` for as many bytes as
// the records have, in `times` for half as many, and in each for 8 more a piece. After writing, each `*_end` is behind
// what was written. For reading, each is behind what there is.
struct fathom_pack_half {
    const struct fathom_pack_piece *pieces;
    size_t count;
    uint8_t *happened, *happened_end;
    uint8_t *times, *times_end;
    uint8_t *rest, *rest_end;
};

// Writes the columns of records.
//
// Complexity: O(bytes); some 4 ns a call.
void fathom_pack(struct fathom_pack_half *first, struct fathom_pack_half *second);

// Writes the records of columns into pieces, of which each has its size already.
//
// Returns 1 when the columns have as many records as fill the pieces, and nothing else; 0 for damaged columns. Then
// what is in the pieces means nothing.
//
// Complexity: O(bytes); some 3 ns a call.
int fathom_unpack(const struct fathom_pack_half *first, const struct fathom_pack_half *second);

// Lays out rows of words of 64 bits by the place of their bytes, as differences from the row before, and back.
void fathom_pack_rows(const uint64_t *rows, size_t count, size_t words, uint8_t *columns);
void fathom_unpack_rows(const uint8_t *columns, size_t count, size_t words, uint64_t *rows);

#endif
