// The table of modes, for the followers.

#include "../follow/mode.h"

#define DECLARE(number, NAME, name, condition, extra) extern const struct mode name##_mode;
#define ENTRY(number, NAME, name, condition, extra) [number] = &name##_mode,
MODES(DECLARE, )
const struct mode *const modes[MODE_LIMIT] = {MODES(ENTRY, )};
