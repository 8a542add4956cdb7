// How calls are added to their paths.

#include "path_tree.h"

#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

static uint16_t no_counts[FATHOM_DURATIONS_SIZE];  // nobody's: all threads count there, and nobody reads it
struct path path_none_ended = {.counts = no_counts};

static struct path_counts *take_counts(struct paths *p) {
    if (p->counts == p->counts_end) {
        struct path_counts *more = path_take(&p->others);
        if (!more) return NULL;
        p->counts = more;
        p->counts_end = more + sizeof(struct path) / sizeof *more;
    }
    return p->counts++;
}

// Makes path->counts hold a bucket. `centre` is where most buckets are expected. 0 when there is no room.
static int aim_counts(struct thread *t, struct path *path, uint32_t bucket, uint32_t centre) {
    struct path_counts *known = path->more;
    while (known && bucket - known->base >= FATHOM_DURATIONS_SIZE) known = known->next;
    if (!known) {
        struct path_counts *made = take_counts(paths_of(t));
        uint32_t number;
        struct fathom_durations *unit = made ? path_new_unit(t, 2, &number) : NULL;
        if (!unit) return 0;
        uint32_t half = FATHOM_DURATIONS_SIZE / 2, last = FATHOM_BUCKETS - FATHOM_DURATIONS_SIZE;
        uint32_t base = centre < half ? 0 : centre - half;
        if (base > last) base = last;
        if (bucket - base >= FATHOM_DURATIONS_SIZE)
            base = bucket < half ? 0 : bucket - half < last ? bucket - half : last;
        *unit = (struct fathom_durations){.unit = FATHOM_UNIT_DURATIONS, .first = (uint16_t)base, .path = path->number};
        path_publish(paths_of(t), 2);
        *made = (struct path_counts){path->more, unit->counts, NULL, base};
        path->more = known = made;
    }
    path->counts = known->counts;
    path->base = (uint16_t)known->base;
    return 1;
}

// Counts a call at a place whose count is full. That stays full where there is no room for its carry. A reader, or who
// finds what a killed process left, may come between the two stores, and then misses FATHOM_CARRY calls in the bucket.
static void carry(struct thread *t, struct path *path, uint32_t place) {
    struct path_counts *known = path->more;
    while (known->counts != path->counts) known = known->next;
    if (!known->carries) {
        uint32_t number;
        struct fathom_durations *unit = path_new_unit(t, 2, &number);
        if (!unit) return;
        *unit = (struct fathom_durations){
            .unit = FATHOM_UNIT_CARRIES, .first = (uint16_t)known->base, .path = path->number};
        path_publish(paths_of(t), 2);
        known->carries = unit->counts;
    }
    if (known->carries[place] == UINT16_MAX) return;
    path->counts[place] = 0;
    known->carries[place]++;
}

static void count(struct thread *t, struct path *path, uint64_t ticks, uint32_t centre) {
    uint32_t bucket = fathom_duration_bucket(ticks);
    if (!aim_counts(t, path, bucket, centre)) return;
    if (!path_count(path, ticks)) carry(t, path, bucket - path->base);
}

void paths_count(struct thread *t, struct path *path, uint64_t ticks) {
    if (path == &path_none_ended) {
        no_counts[0] = 0;  // or each call from here on would come by here
        return;
    }
    count(t, path, ticks, fathom_duration_bucket(ticks));
}

void path_count_ended(struct thread *t) {
    struct paths *p = paths_of(t);
    if (!path_count(p->ended, p->ended_ticks)) paths_count(t, p->ended, p->ended_ticks);
    p->ended = &path_none_ended;
    p->ended_ticks = 0;
}

// A call has ended that took that long.
static void count_any(struct thread *t, struct path *path, uint64_t ticks) {
    const struct fathom_path *sums = path->sums;
    uint32_t bucket = fathom_duration_bucket(ticks);
    if (path->number == FATHOM_NO_PATH || path->function == FOLDED_FUNCTION) return;
    if (!path->more) {
        if (sums->calls <= 2) return;
        uint64_t shortest = sums->shortest, longest = sums->longest;
        if (shortest > longest) return;
        bucket = (fathom_duration_bucket(shortest) + fathom_duration_bucket(longest)) / 2;
        count(t, path, shortest, bucket);
        count(t, path, longest, bucket);
    }
    count(t, path, ticks, bucket);
}

void paths_close(struct thread *t, struct path *path, uint64_t now) {
    struct fathom_path *sums = path->sums;
    uint64_t moment = sums->moment, start = moment >> FATHOM_PATH_SHIFT, ticks = now > start ? now - start : 0;
    if (!(moment & FATHOM_PATH_OPEN)) return;
    sums->moment = now << FATHOM_PATH_SHIFT;
    if (!(moment & FATHOM_PATH_INHERITED)) {
        count_any(t, path, ticks);
        path_add(path, ticks);
        return;
    }
    sums->total += ticks;
    struct path *inherited = path_special(t, path, INHERITED_FUNCTION, FATHOM_UNIT_INHERITED);
    if (!inherited) return;
    inherited->sums->total += ticks;
    inherited->sums->calls++;
}

FATHOM_WITHOUT_HOOKS_END
