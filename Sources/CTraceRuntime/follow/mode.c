// Which mode a thread is in.

#include "mode.h"

FATHOM_WITHOUT_HOOKS

const struct mode *mode_for(const struct thread *t, int is_stopped) { return modes[mode_of(&t->options, is_stopped)]; }

FATHOM_WITHOUT_HOOKS_END
