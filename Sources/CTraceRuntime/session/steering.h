// What `fathom ctl` asks of the process, and what the process writes back about it.

#ifndef FATHOM_STEERING_H
#define FATHOM_STEERING_H

#include "../host/base.h"

// Applies what is asked of the process now, before it begins to record. Only this thread runs hooks.
void steering_join(void);
// Notes that the process is not recorded any more.
void steering_leave(void);
// Applies what is asked to the process, whose threads follow at their next calls. The caller holds no lock.
void steering_take(void);
// Notes that one of the process's threads does now what the process was asked to do when its stamp was `stamp`, and
// sets the thread's own stamp, `*known`. `change` is 1 when the thread has just been attached, and -1 when it is about
// to be detached; then `stamp` does not matter.
void steering_tell_thread(uint32_t *known, uint32_t stamp, int change);

#endif
