// The table of modes, for the followers.

#include "../follow/mode.h"

FATHOM_WITHOUT_HOOKS

#define DECLARE(number, NAME, name, condition, extra) extern const struct mode name##_mode;
#define ENTRY(number, NAME, name, condition, extra) [number] = &name##_mode,
MODES(DECLARE, )
static const struct mode *const modes[MODE_LIMIT] = {MODES(ENTRY, )};

const struct mode *mode_for(const struct thread *t, int is_stopped) { return modes[mode_of(&t->options, is_stopped)]; }

FATHOM_WITHOUT_HOOKS_END
