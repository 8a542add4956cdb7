// A thread's chunk.

#ifndef FATHOM_CHUNK_H
#define FATHOM_CHUNK_H

#include "../follow/thread.h"

#define FIRST_LOOK 8u
#define LAST_LOOK (1u << 20)
#define PATH_LIMIT                                                                                                     \
    256u  // calls that a chunk's open call path lists: more would crowd out the records of deep recursion
#define RECORD_ROOM 128u  // more than the largest run of records written at once: two of FATHOM_RECORD_LIMIT bytes

// writer.gap says why its next chunk does not go on where the previous one ended. A chunk's begin sets it back to NONE.
//
//         no chunk is to be had  recording was started, a handler left a hook half done, or a lane was not told of
//   NONE  LOST                   PATH
//   PATH  LOST                   -
//   LOST  -                      -
enum {
    GAP_NONE,
    GAP_LOST,  // records were dropped
    GAP_PATH,  // only its path tells what is open
};

// When the thread's processor time was looked at last, and what it was; see put.c.
struct away {
    uint64_t ticks;  // 0: it was not
    uint64_t processor_ns;
    uint64_t switches;
    uint64_t is_told;  // not 0: others tell of what is recorded now
};

// What a thread keeps of the records it writes.
struct writer {
    char *cursor;  // where the next record goes
    char *limit;   // records may start below this; RECORD_ROOM bytes are left behind it
    struct fathom_chunk *chunk;
    uint64_t function_base;
    uint64_t calls;         // ENTER records in this chunk
    struct frame *pending;  // calls from here on have an ENTER that may be taken back, the last things in the chunk

    // No fast path touches what follows.
    uint32_t slot;
    uint32_t gap;        // GAP_*
    uint64_t sequence;   // of the next chunk
    uint64_t finished;   // ticks when the previous chunk was finished
    uint64_t lost;       // calls without record since then
    uint64_t orphans;    // exits without call since then
    uint64_t retry;      // lost calls until a slot is asked for again
    char *wanted_limit;  // what `limit` is to be again, see writer_stop_at; NULL: that is what it is
    uint32_t look;       // bytes of records until modules_scan is called again; 0: it is not
    char name[16];       // given by the program; empty: the kernel's
    struct away away;
    uint64_t began_processor_ns;  // the thread's processor time at the chunk's beginning; 0: it is not asked for
};
_Static_assert(sizeof(struct writer) <= WRITER_SIZE, "the thread has room for it");
INTERNAL struct writer *writer_of(const struct thread *t) { return (struct writer *)t->writer; }

// A record that would start at `place`, or the next one for AT_NEXT_RECORD, goes by chunk_make_room, which looks at the
// modules. Each limit is one store, so that a signal handler's hook in between finds both limits or one of them.
#define AT_NEXT_RECORD NULL
INTERNAL void writer_stop_at(struct writer *w, char *place) {
    if (!w->wanted_limit) w->wanted_limit = w->limit;
    BARRIER();
    w->limit = place;
}
INTERNAL int writer_is_to_stop(const struct writer *w) { return w->wanted_limit != NULL; }
// Where the chunk's room for records ends, whether the writer is to stop before that or not.
INTERNAL const char *writer_end(const struct writer *w) { return w->wanted_limit ? w->wanted_limit : w->limit; }

// The number of open calls that have a record.
uint32_t recorded_calls(struct thread *t);

// Publishes all that is in the chunk. From here on, none of it is taken back.
void chunk_publish(struct thread *t);
// Finishes the chunk, if there is one. `now` is in ticks.
void chunk_finish(struct thread *t, uint64_t now);
void chunk_lose_call(struct thread *t);  // counts a call that leaves no record
int chunk_make_room(struct thread *t);   // after cursor reached limit; 0 when records cannot be kept
void chunk_look_at_modules(struct thread *t, int is_recording);  // from the next record on; signal handlers may call it
#ifdef FATHOM_VALID
int chunk_is_valid(const struct thread *t);  // whether the next record would go where it should
#endif
// The thread's name, from here on. There is none where `name` is empty: then the kernel's counts.
void chunk_name(struct thread *t, const char name[16]);
void chunk_write_name(const struct thread *t, struct fathom_chunk *chunk);  // into its header
// Called in a fork's child, where the chunk is the parent's. For a hook that was writing into the chunk when the
// handler forked, it becomes a private copy.
void chunk_forget(struct thread *t);

#endif
