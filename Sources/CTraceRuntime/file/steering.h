// What `fathom ctl` asks of the process, and what the process tells of that.

#ifndef FATHOM_STEERING_H
#define FATHOM_STEERING_H

#include "../host/base.h"

// The process is about to record, by what is asked of it now. Only this thread runs hooks.
void steering_join(void);
// The process has ended, as far as it is recorded.
void steering_leave(void);
// Takes up what is asked, for the process. Its threads follow at their next calls. The caller holds no lock.
void steering_take(void);
// One of the process's threads does as the process did when its stamp was `stamp`, and says so in `*known`. With a
// `change` of 1 or -1, it has been attached, or is about to be detached; then `stamp` does not matter in the latter
// case.
void steering_tell_thread(uint32_t *known, uint32_t stamp, int change);

#endif
