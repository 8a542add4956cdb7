// The layout of packed files: a whole session in one file, or a log that is compressed while it is recorded. FORMAT.md
// says the same in prose; CTracePack.h has what the columns of records are.

#ifndef CTRACEPACKED_H
#define CTRACEPACKED_H

#include <stdint.h>

#include "CTraceFormat.h"

#define FATHOM_PACKED_MAGIC 0x314b415048544146ull  // "FATHPAK1"
#define FATHOM_PACKED_VERSION 1u
#define FATHOM_SECTION_MAGIC 0x54434553u  // "SECT"

// The first bytes. The header of the log follows as it is in a plain log, and the sections begin at `header_size`.
struct fathom_packed_header {
    uint64_t magic;  // FATHOM_PACKED_MAGIC
    uint32_t version;
    uint32_t header_size;      // a multiple of 8
    uint32_t section_size;     // sizeof(struct fathom_packed_section)
    uint32_t log_header_size;  // 0: the session has no log
    uint64_t sum;              // of the bytes before
};
FATHOM_SIZE(fathom_packed_header, 32);

#define FATHOM_SECTION_FRAME 1u  // chunks
#define FATHOM_SECTION_FILE 2u   // a piece of a file of the session
#define FATHOM_SECTION_GAP 3u    // bytes of the log that are no chunks
#define FATHOM_SECTION_INDEX 4u  // what the sections before it are, and the headers of all chunks
#define FATHOM_SECTION_END 5u    // the last bytes of a file: where the index is
#define FATHOM_SECTION_LOST 6u   // nothing: where this was packed, `whole` bytes at `place` were no section

// The columns of a frame. Two halves have a column each of what happened, of the times, and of the rest.
#define FATHOM_COLUMN_HEADS 0u
#define FATHOM_COLUMN_PATHS 1u
#define FATHOM_COLUMN_RECORDS 2u
#define FATHOM_COLUMNS 8u

// What a section holds follows it, and is filled up to 8 bytes. Whatever is compressed is a frame of Zstandard that
// says its size.
struct fathom_packed_section {
    uint32_t magic;     // FATHOM_SECTION_MAGIC
    uint32_t kind;      // FATHOM_SECTION_*
    uint32_t count;     // of a frame: its chunks
    uint32_t head_sum;  // of a frame: the low half of the sum of the first column, so that it can be read alone
    uint64_t size;      // of what follows, in bytes
    uint64_t raw_size;  // without compression, in bytes; of a frame: of the payloads, each filled up to 8
    uint64_t place;     // of a file or a gap: where the bytes belong; of the end: where the index is
    uint64_t whole;     // of a file: its size
    char name[16];      // of a file
    uint32_t columns[FATHOM_COLUMNS];  // of a frame: the size of each, 0: it has nothing
    uint64_t sum;                      // of what follows (CTraceSum.h)
    uint64_t header_sum;               // of the bytes before
};
FATHOM_SIZE(fathom_packed_section, 112);

// How the payload of a chunk is kept.
#define FATHOM_PACKED_RECORDS 0u  // its path is in the second column, its records are in those of a half
#define FATHOM_PACKED_PLAIN 1u    // it is in the second column
#define FATHOM_PACKED_DAMAGED 2u  // likewise, and it was not what its sum says before it was packed

// The first column of a frame: one row of words a chunk, as fathom_pack_rows lays them out.
struct fathom_packed_chunk {
    struct fathom_chunk header;
    uint64_t place;  // in the plain log, in bytes
    uint32_t held;   // bytes of the payload that there are
    uint32_t kept;   // FATHOM_PACKED_*
};
FATHOM_SIZE(fathom_packed_chunk, 176);

// The index is blocks, each with rows of words in a frame of Zstandard. Those of the first block are the sections
// before it, each with its place in the file; the others have the chunks of all frames, in the frames' order.
struct fathom_packed_block {
    uint32_t size;  // bytes that follow
    uint32_t rows;
};
FATHOM_SIZE(fathom_packed_block, 8);

struct fathom_packed_entry {
    struct fathom_packed_section section;
    uint64_t place;
};
FATHOM_SIZE(fathom_packed_entry, 120);

#endif
