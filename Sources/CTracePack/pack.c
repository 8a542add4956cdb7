#include "CTracePack.h"

#include <string.h>

#include "CTraceRecords.h"

#define CACHE (FATHOM_PACK_FIRST + (1u << FATHOM_PACK_CACHE_BITS))

// What a half is about.
struct state {
    const struct fathom_pack_piece *piece, *last;
    uint8_t *at, *end;  // in the piece
    uint8_t *happened, *times, *rest;
    const uint8_t *happened_end, *times_end, *rest_end;
    // Writing: call site and function, 48 bits. Reading: an enter record without its time, and one entry that makes an
    // exit.
    uint64_t cache[CACHE];
};

static inline uint64_t load64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static inline uint16_t load16(const uint8_t *p) {
    uint16_t unit;
    memcpy(&unit, p, sizeof unit);
    return unit;
}

static inline uint32_t place(uint64_t edge) {
    return FATHOM_PACK_FIRST + (uint32_t)(edge * 0x9e3779b97f4a7c15ull >> (64 - FATHOM_PACK_CACHE_BITS));
}

// Goes on with the next piece that has bytes; 0: there is none.
static int next_piece(struct state *half) {
    while (half->at == half->end) {
        if (half->piece == half->last) return 0;
        half->at = half->piece->bytes;
        half->end = half->at + half->piece->size;
        half->piece++;
    }
    return 1;
}

static void begin(struct state *half, const struct fathom_pack_half *columns, uint64_t empty) {
    half->piece = columns->pieces;
    half->last = columns->pieces + columns->count;
    half->at = half->end = 0;
    half->happened = columns->happened;
    half->times = columns->times;
    half->rest = columns->rest;
    half->happened_end = columns->happened_end;
    half->times_end = columns->times_end;
    half->rest_end = columns->rest_end;
    for (uint32_t i = 0; i < CACHE; i++) half->cache[i] = empty;
}

// ---- Writing -----------------------------------------------------------------------------------------------------

static inline void put(struct state *half, uint32_t what) {
    uint16_t unit = (uint16_t)what;
    memcpy(half->happened, &unit, sizeof unit);
    half->happened += sizeof unit;
}

static inline void put_time(struct state *half, uint32_t time) {
    if (time < FATHOM_PACK_LONG) {
        *half->times++ = (uint8_t)time;
        return;
    }
    *half->times++ = FATHOM_PACK_LONG;
    uint16_t unit = (uint16_t)time;
    memcpy(half->rest, &unit, sizeof unit);
    half->rest += sizeof unit;
}

static void put_rest(struct state *half, size_t size) {
    memcpy(half->rest, half->at, size);
    half->rest += size;
    half->at += size;
}

// Writes the record at `at`, whatever it is.
static __attribute__((noinline)) void pack_any(struct state *half) {
    size_t left = (size_t)(half->end - half->at);
    size_t size = left < 2 ? 2 : fathom_record_size(half->at, left);
    if (size > left) {
        uint16_t tail = FATHOM_PACK_TAIL;
        put(half, FATHOM_PACK_OTHER);
        memcpy(half->rest, &tail, sizeof tail);
        half->rest += sizeof tail;
        put_rest(half, left);
        return;
    }
    uint16_t unit = load16(half->at);
    if (unit & 1) {
        uint64_t edge = load64(half->at) >> 16;
        uint32_t at = place(edge);
        if (half->cache[at] == edge) {
            put(half, at);
        } else {
            half->cache[at] = edge;
            put(half, FATHOM_PACK_MISS);
            memcpy(half->rest, half->at + 2, 6);
            half->rest += 6;
        }
        put_time(half, unit >> 1);
        half->at += FATHOM_ENTER_SIZE;
    } else if (unit >> 1 < FATHOM_SPECIAL) {
        put(half, FATHOM_PACK_EXIT);
        put_time(half, unit >> 1);
        half->at += FATHOM_EXIT_SIZE;
    } else {
        put(half, FATHOM_PACK_OTHER);
        put_rest(half, size);
    }
}

// Writes the record at `at`, behind which there are 8 bytes. What is usual takes no branch.
static inline void pack_one(struct state *half) {
    uint64_t word = load64(half->at);
    uint32_t unit = (uint16_t)word, time = unit >> 1, is_enter = unit & 1;
    uint64_t edge = word >> 16;
    uint32_t at = place(edge);
    if (__builtin_expect((time < FATHOM_PACK_LONG) & ((is_enter ^ 1) | (half->cache[at] == edge)), 1)) {
        put(half, is_enter ? at : FATHOM_PACK_EXIT);
        *half->times++ = (uint8_t)time;
        half->at += 2 + 6 * is_enter;
        return;
    }
    pack_any(half);
}

// Whether 8 bytes of records can be read; what is before the end of a piece is written on the way.
static inline int has_record(struct state *half) {
    while (__builtin_expect(half->end - half->at < 8, 0)) {
        if (!next_piece(half)) return 0;
        if (half->end - half->at < 8) pack_any(half);
    }
    return 1;
}

static void end(const struct state *half, struct fathom_pack_half *columns) {
    columns->happened_end = half->happened;
    columns->times_end = half->times;
    columns->rest_end = half->rest;
}

void fathom_pack(struct fathom_pack_half *first, struct fathom_pack_half *second) {
    struct state a, b;
    begin(&a, first, 0);
    begin(&b, second, 0);
    while (has_record(&a) && has_record(&b)) {
        pack_one(&a);
        pack_one(&b);
    }
    while (has_record(&a)) pack_one(&a);
    while (has_record(&b)) pack_one(&b);
    end(&a, first);
    end(&b, second);
}

// ---- Reading -----------------------------------------------------------------------------------------------------

// Takes `size` bytes of the rest; nil: there are not so many.
static const uint8_t *take(struct state *half, size_t size) {
    if ((size_t)(half->rest_end - half->rest) < size) return 0;
    half->rest += size;
    return half->rest - size;
}

// Reads a record, whatever it is, into what is left of the piece; 0: these columns have none that would fit there.
static __attribute__((noinline)) int unpack_any(struct state *half) {
    size_t left = (size_t)(half->end - half->at);
    if (half->happened_end - half->happened < 2) return 0;
    uint32_t what = load16(half->happened);
    half->happened += 2;
    if (what >= CACHE) return 0;
    if (what == FATHOM_PACK_OTHER) {
        size_t available = (size_t)(half->rest_end - half->rest);
        if (available < 2) return 0;
        size_t size = fathom_record_size(half->rest, available);
        if (load16(half->rest) == FATHOM_PACK_TAIL) {
            half->rest += 2;
            size = left;
        }
        const uint8_t *bytes = take(half, size);
        if (!bytes || size > left) return 0;
        memcpy(half->at, bytes, size);
        half->at += size;
        return 1;
    }
    if (what == FATHOM_PACK_MISS) {
        const uint8_t *bytes = take(half, 6);
        if (!bytes) return 0;
        uint64_t edge = 0;
        memcpy(&edge, bytes, 6);
        what = place(edge);
        half->cache[what] = edge << 16 | 1;
    }
    if (half->times == half->times_end) return 0;
    uint32_t time = *half->times++;
    if (time == FATHOM_PACK_LONG) {
        const uint8_t *bytes = take(half, 2);
        if (!bytes) return 0;
        time = load16(bytes);
    }
    size_t size = what == FATHOM_PACK_EXIT ? FATHOM_EXIT_SIZE : FATHOM_ENTER_SIZE;
    if (size > left) return 0;
    uint64_t word = half->cache[what] | (uint64_t)(time & 0x7fff) << 1;
    memcpy(half->at, &word, size);
    half->at += size;
    return 1;
}

// Reads a record into a piece that has room for 8 bytes. The columns have what happened, and a time.
static inline int unpack_one(struct state *half) {
    uint32_t what = load16(half->happened), time = *half->times;
    int is_unusual = (what - FATHOM_PACK_OTHER <= FATHOM_PACK_MISS - FATHOM_PACK_OTHER) | (what >= CACHE);
    if (__builtin_expect(is_unusual | (time == FATHOM_PACK_LONG), 0)) return unpack_any(half);
    half->happened += 2;
    half->times++;
    uint64_t word = half->cache[what] | (uint64_t)time << 1;
    memcpy(half->at, &word, sizeof word);
    half->at += what == FATHOM_PACK_EXIT ? FATHOM_EXIT_SIZE : FATHOM_ENTER_SIZE;
    return 1;
}

// Whether there is room for 8 bytes, and something to read; 0: the pieces are full, -1: the columns are damaged.
static inline int has_room(struct state *half) {
    while (__builtin_expect(
        (half->end - half->at < 8) | (half->happened_end - half->happened < 2) | (half->times == half->times_end), 0)) {
        if (half->at == half->end) {
            if (!next_piece(half)) return 0;
        } else if (!unpack_any(half)) {
            return -1;
        }
    }
    return 1;
}

// Reads all that is left of a half; whether it was as much as there was.
static int finish(struct state *half) {
    int more;
    while ((more = has_room(half)) > 0)
        if (!unpack_one(half)) return 0;
    return more == 0 && half->happened == half->happened_end && half->times == half->times_end &&
           half->rest == half->rest_end;
}

int fathom_unpack(const struct fathom_pack_half *first, const struct fathom_pack_half *second) {
    struct state a, b;
    begin(&a, first, 1);
    begin(&b, second, 1);
    a.cache[FATHOM_PACK_EXIT] = b.cache[FATHOM_PACK_EXIT] = 0;
    int more, others = 0;
    while ((more = has_room(&a)) > 0 && (others = has_room(&b)) > 0)
        if (!unpack_one(&a) || !unpack_one(&b)) return 0;
    return more >= 0 && others >= 0 && finish(&a) && finish(&b);
}

// ---- Rows --------------------------------------------------------------------------------------------------------

void fathom_pack_rows(const uint64_t *rows, size_t count, size_t words, uint8_t *columns) {
    for (size_t word = 0; word < words; word++) {
        uint64_t before = 0;
        for (size_t row = 0; row < count; row++) {
            uint64_t value = rows[row * words + word], change = value - before;
            before = value;
            for (size_t byte = 0; byte < 8; byte++)
                columns[(word * 8 + byte) * count + row] = (uint8_t)(change >> 8 * byte);
        }
    }
}

void fathom_unpack_rows(const uint8_t *columns, size_t count, size_t words, uint64_t *rows) {
    for (size_t word = 0; word < words; word++) {
        uint64_t value = 0;
        for (size_t row = 0; row < count; row++) {
            uint64_t change = 0;
            for (size_t byte = 0; byte < 8; byte++)
                change |= (uint64_t)columns[(word * 8 + byte) * count + row] << 8 * byte;
            rows[row * words + word] = value += change;
        }
    }
}
