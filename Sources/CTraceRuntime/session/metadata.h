// The process's own chunk.

#ifndef FATHOM_METADATA_H
#define FATHOM_METADATA_H

#include "../host/base.h"

void metadata_process(uint32_t parent_process);
void metadata_arguments(int count, char **arguments, char **environment);  // where titles are written
void metadata_forget(void);                                                // what was told; no other thread runs
void metadata_title(void);                  // adds the process's title if it has changed; signal handlers may call it
void metadata_look_at_title(uint64_t now);  // the same, but at most 100 times a second
void metadata_end(uint32_t how);
// The same without system calls. Does nothing if there is no room, which metadata_reserve_end makes, or if the lock is
// taken.
void metadata_end_quietly(uint32_t how, uint64_t now);
void metadata_reserve_end(void);
void metadata_finish(void);  // gives the chunk to the recorder
// Appends one item, whose `parts` are laid end to end after the header. Drops the item when no room can be had.
struct part {
    const void *bytes;
    size_t size;
};
// The part for an item's structure: all of it after its leading header, which metadata_append writes.
#define ITEM_BODY(item)                                                                                                \
    { (const char *)&(item) + sizeof(struct fathom_item), sizeof(item) - sizeof(struct fathom_item) }
void metadata_append(uint16_t kind, const struct part *parts, size_t count);

// Programs that forbid themselves what the runtime needs.

// Whether the program has confined itself by a system call that no note reported; if so, ends the recording. Ask this
// before other system calls. A filter that ends the program for prctl as well cannot be survived.
int confine_unnoted(void);
void confine_end(uint64_t now);  // ends the recording, without a system call

// What the program calls its scopes, marks and counters.

uint32_t name_known(uint32_t kind, const char *text);   // the id of a name that was given, or 0; async-signal-safe
uint32_t name_intern(uint32_t kind, const char *text);  // the name's id, 0 if there is no room; async-signal-safe
void names_forget(void);                                // no name has an id any more; no other thread runs

#endif
