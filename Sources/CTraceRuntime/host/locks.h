// All locks that the runtime takes or meets, and the order in which a thread may take them.
//
//   the program's          Whoever calls the runtime may hold any lock of the program's, and so the allocator's, or the
//                          loader's for loading and unloading (glibc's dl_load_lock). So the runtime takes none of
//                          these, and calls nothing that may: that is foreign code, below.
//   the loader's list      glibc's dl_load_write_lock. The program holds it while dl_iterate_phdr calls it back, and
//   may
//                          wait there for anything. So it is only taken through loader_modules (host/loader.h), which
//                          gives up where the program may hold it.
//   LOCK_START … MAPS      The runtime's own, in the order below. A thread takes one only if it holds none that stands
//                          behind it, or the same. Signals are blocked as long as one is held, so that no handler waits
//                          for what it has interrupted, and none leaves by a jump or a fork. Whoever holds one waits
//                          for nothing but a later one and, with LOCK_MODULES, for the recorder's answer or, with
//                          LOCK_MAPS, for a child of its own that reads a file.
//
// Foreign code is called through foreign_call, and no lock of the runtime's is held then. So nobody who holds one waits
// for the program.
//
// A fork. Those that fork by the C library wait until no thread is in loader_modules, because the child would find the
// loader's list locked, and code half changed. All other locks are free in the child (locks_after_fork), whoever held
// them in the parent: what they guard is such that the child can go on with the state of any moment, or is made anew by
// those who call locks_after_fork.
//
// In a library that is built with FATHOM_VALID defined, a thread that does otherwise ends the program.

#ifndef FATHOM_LOCKS_H
#define FATHOM_LOCKS_H

#include "base.h"

enum lock {
    LOCK_LIST,      // the loader's; not a word of ours
    LOCK_START,     // runtime.starter: who opens the session and registers the process
    LOCK_CONTROL,   // options, stops and starts
    LOCK_PATHS,     // the list of threads with call paths
    LOCK_MODULES,   // what is known of modules, and the functions that options name
    LOCK_SLEDS,     // what is known of sleds
    LOCK_SLOTS,     // what is known of the slots of library calls
    LOCK_TITLE,     // the process's title; only tried
    LOCK_METADATA,  // the metadata chunk
    LOCK_MAPS,      // the stack on which mappings are read
    LOCK_COUNT,
};
extern uint32_t locks[LOCK_COUNT] __attribute__((visibility("hidden")));

#ifdef FATHOM_VALID
// Each ends the program where the order of locks does not allow what the thread is about to do.
void locks_expect_order(enum lock taken);
void locks_expect_none(void);
void locks_note(enum lock lock, int is_held);
#else
INTERNAL void locks_expect_order(enum lock taken) { (void)taken; }
INTERNAL void locks_expect_none(void) {}
INTERNAL void locks_note(enum lock lock, int is_held) { (void)lock, (void)is_held; }
#endif

// Takes a lock. Returns the signals to give it back with. Taking the lock acquires what its previous holder released,
// so what a lock guards needs no atomics. What is done while it is held takes no more stack than `room`.
INTERNAL uint64_t lock_take_within(enum lock lock, size_t room) {
    uint64_t signals = system_block_signals_within(room);
    locks_expect_order(lock);
    for (uint32_t tries = 0; !fathom_swap32(&locks[lock], 0, 1); tries++) system_wait(tries);
    locks_note(lock, 1);
    return signals;
}
INTERNAL uint64_t lock_take(enum lock lock) { return lock_take_within(lock, STACK_ROOM); }
INTERNAL void lock_give(enum lock lock, uint64_t signals) {
    locks_note(lock, 0);
    fathom_store32(&locks[lock], 0);
    system_restore_signals(signals);
}
// Takes the lock if nobody has it. 0 if somebody has.
INTERNAL int lock_try(enum lock lock, uint64_t *signals) {
    *signals = system_block_signals();
    locks_expect_order(lock);
    if (fathom_swap32(&locks[lock], 0, 1)) {
        locks_note(lock, 1);
        return 1;
    }
    system_restore_signals(*signals);
    return 0;
}
int locks_are_free(void);  // LOCK_LIST and LOCK_START apart
void locks_after_fork(void);

// Calls a function of somebody else's, which may do anything, or one that calls such a function. Keeps vector registers
// where they matter.
INTERNAL long foreign_call(long (*function)(void *), void *argument) {
    locks_expect_none();
    return vectors_keep(function, argument);
}

#endif
