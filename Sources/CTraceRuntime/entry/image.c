// What the process's image tells about itself: that it is there, that it ends, and that another takes its place.

#include "../file/metadata.h"
#include "../file/modules.h"
#include "../file/steering.h"
#include "../follow/process.h"
#include "../follow/side.h"
#include "../host/environment.h"
#include "../host/runtime.h"

FATHOM_WITHOUT_HOOKS

// Marks a program that has the runtime linked in, even a stripped one, by an ELF note of owner "Fathom", type 1.
__asm__(".pushsection .note.fathom, \"a\", %note\n"
        ".balign 4\n"
        ".long 7, 4, 1\n"
        ".asciz \"Fathom\"\n"
        ".balign 4\n"
        ".long 1\n"
        ".popsection\n");

__attribute__((constructor)) static void started(int count, char **arguments, char **environment) {
    metadata_arguments(count, arguments, environment);
    runtime.stack_top = (uintptr_t)environment;
    environment_keep(environment);
    runtime_open(environment);
    // This does not happen in runtime_open, because it allocates memory, and a hook in an IFUNC resolver may come
    // before the program's own malloc is relocated.
    runtime_watch_forks();
}

// Gives the slots back at once. A program that starts many processes would otherwise leave slots behind until the
// recorder looks.
static void give_back(void) {
    metadata_finish();
    side_give_back(&current);
}

__attribute__((destructor)) static void ended(void) {
    if (!runtime_records()) return;
    if (runtime.modules_stale) modules_scan();
    metadata_end(FATHOM_END_EXIT);
    give_back();
    steering_leave();
}

void fathom_note_exit(void) { ended(); }

void fathom_note_exec(void) {
    if (!runtime_records()) return;
    metadata_end(FATHOM_END_EXEC);
    give_back();
}

void fathom_note_failed_exec(void) {
    if (runtime_records()) metadata_end(FATHOM_END_FAILED_EXEC);
}

FATHOM_WITHOUT_HOOKS_END
