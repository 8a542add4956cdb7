// What chunks of metadata hold: items, in which a process says what it is, which modules it has, what their parts are
// called, and how it ends.

#ifndef CTRACEMETADATA_H
#define CTRACEMETADATA_H

#include <stddef.h>
#include <stdint.h>

#include "CTraceRecords.h"

#define FATHOM_ITEM_PROCESS 1u         // struct fathom_process_item
#define FATHOM_ITEM_MODULE 2u          // struct fathom_module_item
#define FATHOM_ITEM_UNLOAD 3u          // struct fathom_unload_item
#define FATHOM_ITEM_END 4u             // struct fathom_end_item
#define FATHOM_ITEM_NAME 5u            // struct fathom_name_item
#define FATHOM_ITEM_TITLE 8u           // struct fathom_title_item
#define FATHOM_ITEM_MISSED 9u          // struct fathom_missed_item
#define FATHOM_ITEM_FILLER 10u         // nothing, so that what follows begins at a page
#define FATHOM_ITEM_UNNAMED 11u        // struct fathom_unnamed_item
#define FATHOM_ITEM_LAYOUT 12u         // struct fathom_layout_item
#define FATHOM_ITEM_SLEDS 13u          // struct fathom_sleds_item
#define FATHOM_ITEM_STARTUP 14u        // struct fathom_startup_item
#define FATHOM_ITEM_UNSEEN_MEMORY 15u  // struct fathom_unseen_memory_item

#define FATHOM_ITEM_LIBRARY_CALL 16u  // struct fathom_library_call_item
#define FATHOM_ITEM_DETOURS 17u       // struct fathom_detours_item

// Header of a metadata item; `size` covers header, body and padding to 8.
struct fathom_item {
    uint16_t kind;  // FATHOM_ITEM_*
    uint16_t reserved;
    uint32_t size;
};

#define FATHOM_ORIGIN_IMAGE 0u  // a new program image: started by the recorder or by exec
#define FATHOM_ORIGIN_FORK 1u   // a fork's child: modules are the parent's at start_ticks
#define FATHOM_NO_PROCESS 0xffffffffu

// First item of a process. Body ends with path_size bytes of executable path, then command_size bytes of
// NUL-terminated arguments.
struct fathom_process_item {
    struct fathom_item item;
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t parent_process;  // index of a fork's parent, else FATHOM_NO_PROCESS
    uint32_t origin;          // FATHOM_ORIGIN_*
    uint64_t start_ticks;
    uint64_t start_ns;
    uint32_t path_size;
    uint32_t command_size;
};

// A mapped ELF module. It owns its addresses from the moment the previous owner was unloaded. Body ends with
// build_id_size bytes of build-id, then path_size bytes of absolute path.
struct fathom_module_item {
    struct fathom_item item;
    uint64_t seen_ticks;  // when the runtime found it
    uint64_t bias;        // address in memory minus address in the file
    uint64_t low, high;   // addresses in memory of its loaded segments
    uint32_t build_id_size;
    uint32_t path_size;
};

// The module at `low` is gone.
struct fathom_unload_item {
    struct fathom_item item;
    uint64_t ticks;
    uint64_t low;
};

#define FATHOM_END_EXIT 1u         // the runtime: exit or _exit was called
#define FATHOM_END_CONFINED 3u     // the runtime: the program confined itself (seccomp, PR_SET_TSC); recording stopped
#define FATHOM_END_EXEC 4u         // the runtime: exec was called; if it succeeded, the image ended there
#define FATHOM_END_FAILED_EXEC 5u  // the runtime: it failed, so the image goes on
#define FATHOM_END_SAVED 6u        // the recorder: the image went on when this was saved of a ring
#define FATHOM_END_DETACHED 7u     // the runtime: the image goes on, and whoever attached to it has detached
#define FATHOM_END_WAITED 2u       // the recorder: it waited for the process, which ended with `status`

// The image ended. There is none when the image was killed and is not the process that the recorder started. An image
// that exec replaced needs none: the next image's start shows it.
struct fathom_end_item {
    struct fathom_item item;
    uint64_t ticks;
    uint32_t how;     // FATHOM_END_*
    uint32_t status;  // as wait(2) gives it; FATHOM_END_WAITED only
};

#define FATHOM_NAME_SCOPE 1u
#define FATHOM_NAME_MARK 2u
#define FATHOM_NAME_COUNTER 3u
#define FATHOM_NAME_OBJECT 4u  // what is behind a descriptor, as the runtime found it

// A name that the program gave by fathom.h, or that something has. A fork's child has its parent's names, and may give
// the same id to another name later. Body ends with `text_size` bytes.
struct fathom_name_item {
    struct fathom_item item;
    uint32_t id;    // never 0, which is the id of every name that found no room
    uint32_t kind;  // FATHOM_NAME_*
    uint32_t text_size;
    uint32_t reserved;
};
#define FATHOM_NAME_LIMIT 255u  // bytes of a name that are kept

// The process wrote a title over its arguments, as setproctitle does. Body ends with `text_size` bytes, what
// /proc/PID/cmdline would say: words may end with NUL, and bytes that the title does not need are NUL or blank.
struct fathom_title_item {
    struct fathom_item item;
    uint64_t ticks;  // when the runtime saw it
    uint32_t text_size;
    uint32_t reserved;
};
#define FATHOM_TITLE_LIMIT 512u  // bytes of a title that are kept

// A program with hooks that was started and not recorded. The recorder writes such items, only into the metadata of
// process FATHOM_NO_PROCESS, which is the session's own. Body ends with `path_size` bytes.
struct fathom_missed_item {
    struct fathom_item item;
    uint64_t ticks;  // when it was started
    uint32_t pid;
    uint32_t reason;  // FATHOM_MISSED_*
    uint32_t path_size;
    uint32_t reserved;
};

// Options name functions, and the process went on without knowing those of the module at `low`: no answer of the
// recorder came in time, or it could not read the module. Where first calls are recorded, the system may also have
// refused to let traps be written into the module's code.
struct fathom_unnamed_item {
    struct fathom_item item;
    uint64_t ticks;
    uint64_t low;
};

// The module at `low` has sleds, and these were opened. A later item of the same module takes the place of an earlier
// one.
struct fathom_sleds_item {
    struct fathom_item item;
    uint64_t ticks;
    uint64_t low;
    uint32_t functions;  // that have sleds
    uint32_t open;       // of these, those whose calls are recorded
    uint32_t unwanted;   // those that options leave out
    uint32_t small;      // those below `min_size`
    uint32_t unknown;    // those whose sleds are not as compilers make them
    uint32_t busy;       // those that were closed again to keep to `budget`
    uint32_t error;      // errno with which the code could not be changed; 0: it could
    uint32_t looping;    // those whose sled a loop leads to that keeps values where open sleds write
};

// Functions of the module whose code begins at `low` have got detours. A later item of the same module takes the place
// of an earlier one.
struct fathom_detours_item {
    struct fathom_item item;
    uint64_t ticks;
    uint64_t low;
    uint32_t asked;  // functions that the recorder has judged to be fit
    uint32_t open;   // of these, those whose calls are recorded
    uint32_t busy;   // those that were closed again to keep to `budget`
    uint32_t
        error;  // why none has one, FATHOM_DETOURS_* or errno with which the code could not be changed; 0: some have
};
#define FATHOM_DETOURS_NO_ROOM 0xffffffffu  // there was no free memory near the module
#define FATHOM_DETOURS_LATE 0xfffffffeu     // other threads may run the module's code
#define FATHOM_DETOURS_SIGNED 0xfffffffdu   // signed return addresses are no longer those of return places

// What the values of ARGUMENTS records with this layout are. A fork's child has its parent's layouts. Body ends with
// `text_size` bytes.
struct fathom_layout_item {
    struct fathom_item item;
    uint32_t id;
    uint32_t text_size;
};

// Memory was to be recorded, and this process's is not: it has functions of its own that allocate it.
struct fathom_unseen_memory_item {
    struct fathom_item item;
    uint64_t ticks;
};

// Calls of the function at this address go through a slot, whose module calls it by this name: that of the symbol and,
// where that finds another function by default, `@` and its version. Of an IFUNC, the address is that of what chooses
// the function. It holds from now on, as long as the module of the function is loaded. Body ends with `text_size`
// bytes.
struct fathom_library_call_item {
    struct fathom_item item;
    uint64_t ticks;
    uint64_t function;
    uint32_t text_size;
    uint32_t reserved;
};

#define FATHOM_STARTUP_RUNTIME 1u         // the runtime itself got ready
#define FATHOM_STARTUP_PREINITIALIZER 2u  // of the program's DT_PREINIT_ARRAY
#define FATHOM_STARTUP_INITIALIZER 3u     // of a DT_INIT_ARRAY, or a DT_INIT
#define FATHOM_STARTUP_MAIN 4u            // the runtime got out of the way; main is called when this ends

// What the main thread had done up to a moment.
struct fathom_startup_moment {
    uint64_t ns;
    uint64_t minor, major;  // its page faults
    uint64_t blocks;        // of 512 bytes that it has read from disks
};

// A part of the process's start, by the runtime.
struct fathom_startup_item {
    struct fathom_item item;
    uint32_t kind;      // FATHOM_STARTUP_*
    uint32_t skipped;   // arrays of initialisers that are not looked into; FATHOM_STARTUP_RUNTIME only
    uint64_t function;  // that was called
    struct fathom_startup_moment begin, end;
};

// A named scope is a call of the function at this address plus the name's id. No function can be there: on neither
// machine is it an address of user space or kernel.
#define FATHOM_SCOPE_BASE 0xfa7b000000000000ull

FATHOM_SIZE(fathom_item, 8);
FATHOM_SIZE(fathom_process_item, 48);
FATHOM_SIZE(fathom_module_item, 48);
FATHOM_SIZE(fathom_unload_item, 24);
FATHOM_SIZE(fathom_end_item, 24);
FATHOM_SIZE(fathom_name_item, 24);
FATHOM_OFFSET(fathom_title_item, text_size, 16);
FATHOM_SIZE(fathom_title_item, 24);
FATHOM_SIZE(fathom_missed_item, 32);
FATHOM_SIZE(fathom_unnamed_item, 24);
FATHOM_OFFSET(fathom_sleds_item, error, 48);
FATHOM_SIZE(fathom_sleds_item, 56);
FATHOM_SIZE(fathom_detours_item, 40);
FATHOM_SIZE(fathom_layout_item, 16);
FATHOM_SIZE(fathom_unseen_memory_item, 16);
FATHOM_SIZE(fathom_startup_item, 88);
FATHOM_SIZE(fathom_library_call_item, 32);

#endif
