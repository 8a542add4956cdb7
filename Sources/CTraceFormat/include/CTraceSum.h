// The sums that tell whether a log is as it was written.

#ifndef CTRACESUM_H
#define CTRACESUM_H

#include "CTraceFormat.h"

#define FATHOM_PRIME_1 0x9e3779b185ebca87ull
#define FATHOM_PRIME_2 0xc2b2ae3d27d4eb4full
#define FATHOM_PRIME_3 0x165667b19e3779f9ull
#define FATHOM_PRIME_4 0x85ebca77c2b2ae63ull
#define FATHOM_PRIME_5 0x27d4eb2f165667c5ull

FATHOM_PUBLIC_INLINE uint64_t fathom_rotate(uint64_t value, int bits) { return value << bits | value >> (64 - bits); }

FATHOM_PUBLIC_INLINE uint64_t fathom_load64(const unsigned char *p) {
    uint64_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return word;
}

FATHOM_PUBLIC_INLINE uint64_t fathom_hash_round(uint64_t sum, uint64_t word) {
    return fathom_rotate(sum + word * FATHOM_PRIME_2, 31) * FATHOM_PRIME_1;
}

// Takes the whole stripes of what lies from `p` to `end`, and returns the place behind them.
#define FATHOM_HASH_STRIPE 32
FATHOM_PUBLIC_INLINE const unsigned char *fathom_hash_stripes(uint64_t lanes[4], const unsigned char *p,
                                                              const unsigned char *end) {
    for (; end - p >= FATHOM_HASH_STRIPE; p += FATHOM_HASH_STRIPE)
        for (int i = 0; i < 4; i++) lanes[i] = fathom_hash_round(lanes[i], fathom_load64(p + 8 * i));
    return p;
}

// XXH64 with seed 0 (Y. Collet, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md), at some 10 GB/s. It
// finds changes in any two places, where sums that only add miss changes of high bits. The bytes lie in two pieces, of
// which the first one has whole stripes only.
FATHOM_PUBLIC_INLINE uint64_t fathom_hash_of_two(const void *head, size_t head_size, const void *tail,
                                                 size_t tail_size) {
    const unsigned char *p = (const unsigned char *)tail, *end = p + tail_size;
    size_t size = head_size + tail_size;
    uint64_t sum = FATHOM_PRIME_5;
    if (size >= FATHOM_HASH_STRIPE) {
        uint64_t lanes[4] = {FATHOM_PRIME_1 + FATHOM_PRIME_2, FATHOM_PRIME_2, 0, 0 - FATHOM_PRIME_1};
        fathom_hash_stripes(lanes, (const unsigned char *)head, (const unsigned char *)head + head_size);
        p = fathom_hash_stripes(lanes, p, end);
        sum = fathom_rotate(lanes[0], 1) + fathom_rotate(lanes[1], 7) + fathom_rotate(lanes[2], 12) +
              fathom_rotate(lanes[3], 18);
        for (int i = 0; i < 4; i++) sum = (sum ^ fathom_hash_round(0, lanes[i])) * FATHOM_PRIME_1 + FATHOM_PRIME_4;
    }
    sum += size;
    for (; end - p >= 8; p += 8)
        sum = fathom_rotate(sum ^ fathom_hash_round(0, fathom_load64(p)), 27) * FATHOM_PRIME_1 + FATHOM_PRIME_4;
    if (end - p >= 4) {
        uint32_t half;
        __builtin_memcpy(&half, p, sizeof half);
        sum = fathom_rotate(sum ^ half * FATHOM_PRIME_1, 23) * FATHOM_PRIME_2 + FATHOM_PRIME_3;
        p += 4;
    }
    for (; p < end; p++) sum = fathom_rotate(sum ^ *p * FATHOM_PRIME_5, 11) * FATHOM_PRIME_1;
    sum = (sum ^ sum >> 33) * FATHOM_PRIME_2;
    sum = (sum ^ sum >> 29) * FATHOM_PRIME_3;
    return sum ^ sum >> 32;
}

FATHOM_PUBLIC_INLINE uint64_t fathom_hash(const void *bytes, size_t size) {
    size_t head_size = size / FATHOM_HASH_STRIPE * FATHOM_HASH_STRIPE;
    return fathom_hash_of_two(bytes, head_size, (const char *)bytes + head_size, size - head_size);
}

// Fletcher-64 (J. G. Fletcher, 1982, with 32-bit words and modulus 2^32), for chunks that are not HASHED. `size` is
// rounded down to whole words; the rest of a last word counts as zero-extended.
FATHOM_PUBLIC_INLINE uint64_t fathom_sum(const void *bytes, size_t size) {
    const unsigned char *p = (const unsigned char *)bytes;
    uint32_t a = 1, b = 0, word;
    for (; size >= 4; size -= 4, p += 4) {
        __builtin_memcpy(&word, p, 4);
        a += word;
        b += a;
    }
    word = 0;
    for (size_t i = 0; i < size; i++) word |= (uint32_t)p[i] << (8 * i);
    a += word;
    b += a;
    return (uint64_t)b << 32 | a;
}

// The right header_sum of a chunk.
FATHOM_PUBLIC_INLINE uint64_t fathom_header_sum(struct fathom_chunk chunk) {
    if (!(chunk.flags & FATHOM_FLAG_HASHED)) return fathom_sum(&chunk, offsetof(struct fathom_chunk, header_sum));
    chunk.header_sum = 0;
    return fathom_hash(&chunk, sizeof chunk);
}

FATHOM_PUBLIC_INLINE uint64_t fathom_payload_sum(uint8_t flags, const void *payload, size_t size) {
    return flags & FATHOM_FLAG_HASHED ? fathom_hash(payload, size) : fathom_sum(payload, size);
}

// The right values of a file header's two sums.
FATHOM_PUBLIC_INLINE uint64_t fathom_start_sum(struct fathom_trace_header header) {
    return fathom_hash(&header, offsetof(struct fathom_trace_header, unplaced_calls));
}

FATHOM_PUBLIC_INLINE uint64_t fathom_end_sum(struct fathom_trace_header header) {
    const size_t start = offsetof(struct fathom_trace_header, unplaced_calls);
    return fathom_hash((const char *)&header + start, offsetof(struct fathom_trace_header, end_sum) - start);
}

#endif
