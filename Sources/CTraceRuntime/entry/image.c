// What the process's image tells about itself: that it is there, that it ends, and that another takes its place.

#include "image.h"
#include "../follow/process.h"
#include "../follow/side.h"
#include "../host/runtime.h"
#include "../record/away.h"
#include "../record/put.h"
#include "../session/detours.h"
#include "../session/functions.h"
#include "../session/library_slots.h"
#include "../session/metadata.h"
#include "../session/modules.h"
#include "../session/sleds.h"
#include "../session/steering.h"
#include "CTraceRuntime.h"
#include "busy.h"

FATHOM_WITHOUT_HOOKS

// Marks a program that has the runtime linked in, even a stripped one, by an ELF note of owner "Fathom", type 1.
__asm__(".pushsection .note.fathom, \"a\", %note\n"
        ".balign 4\n"
        ".long 7, 4, 1\n"
        ".asciz \"Fathom\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");

void fathom_note_start(int count, char **arguments, char **environment) {
    static int is_noted;
    if (is_noted) return;
    is_noted = 1;
    metadata_arguments(count, arguments, environment);
    // Arguments and environment lie at the stack's top, unless the program has put its environment elsewhere before
    // this library was loaded.
    uintptr_t top = (uintptr_t)environment, below = (uintptr_t)arguments;
    runtime.stack_top = top - below < 1ul << 21 ? top : below;
    environment_keep(environment);
    runtime_open(environment);
    // runtime_open does not do this, because watching forks allocates memory. A hook in an IFUNC resolver may call
    // runtime_open before the program's own malloc is relocated.
    runtime_watch_forks();
    fathom_note_sleds();
    // Programs without hooks are recorded, too, where options ask for their calls.
    int asks = runtime.head.tells & (FATHOM_TELLS_LIBRARY_CALLS | FATHOM_TELLS_PROCESSES) || functions_have_detours();
    if (runtime.state == STATE_OPEN && asks && !confine_unnoted()) {
        library_slots_begin(environment);
        detours_allow(1);
        runtime_ready();
        detours_allow(0);
    }
    startup_begin();
    if (fathom_image.started) fathom_image.started();
}

__attribute__((constructor)) static void started(int count, char **arguments, char **environment) {
    fathom_note_start(count, arguments, environment);
}

// A module with sleds calls this when it has been loaded, before its other constructors run. Closed sleds call no hook
// that would make the process known to the recorder, so this does.
void fathom_note_sleds(void) {
    sleds_begin();
    if (runtime.state == STATE_OFF || !sleds_look() || confine_unnoted()) return;
    uint32_t state = fathom_load32(&runtime.state);
    if (!runtime_ready()) return;
    if (state == STATE_READY) modules_scan(LOADER_PATIENCE);
}

EXPORT int fathom_open_sleds(void) {
    fathom_note_sleds();
    return runtime_records() && sleds_open_all();
}

EXPORT int fathom_close_sleds(void) {
    detours_close_all();
    return sleds_close_all();
}

// Gives the slots back at once. A program that starts many processes would otherwise leave slots behind until the
// recorder looks.
static void give_back(void) {
    startup_end();
    metadata_finish();
    side_give_back(&current);
}

// No record will tell how long threads have been away until now.
static void tell_away(void) {
    if (!away_is_asked_for() || confine_unnoted()) return;
    struct thread *t = begin_note();
    if (t) {
        uint64_t now = now_ticks();
        if (writer_of(t)->chunk) put_room(t, &now);
        end_note(t);
    }
    away_look_at_others();
}

__attribute__((destructor)) static void ended(void) {
    if (!runtime_records()) return;
    tell_away();
    if (runtime.modules_stale) modules_scan(LOADER_PATIENCE);
    metadata_end(FATHOM_END_EXIT);
    give_back();
    steering_leave();
}

void fathom_note_exit(void) { ended(); }

void fathom_note_exec(void) {
    if (!runtime_records()) return;
    tell_away();
    metadata_end(FATHOM_END_EXEC);
    give_back();
}

void fathom_note_failed_exec(void) {
    if (runtime_records()) metadata_end(FATHOM_END_FAILED_EXEC);
}

FATHOM_WITHOUT_HOOKS_END
