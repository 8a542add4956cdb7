// Starting, forking, joining a session and leaving it.

#ifndef FATHOM_PROCESS_H
#define FATHOM_PROCESS_H

#include "../host/base.h"

// Maps the buffers, so that the process can record from its first hook on. `environment` is the process's, or NULL when
// it is not known yet.
void runtime_open(char **environment);
void runtime_watch_forks(void);
int runtime_ready(void);  // makes it so when it can; whether there is something to record into
#define FATHOM_ATTACH_DONE 0
#define FATHOM_ATTACH_IS_RECORDED 1
#define FATHOM_ATTACH_CANNOT_OPEN 2  // the session's buffers
// The same for a process that was started without a session, which `session` is the directory of. FATHOM_ATTACH_*.
int runtime_join(const char *session);
// Lets the hooks begin, which do nothing until then.
void runtime_join_end(void);
extern uint32_t runtime_is_attached;  // to a session, by somebody who is to make it leave again
// Ends the recording, as if it had never been, while all threads are stopped but the calling one. `thread_pointers` are
// those of all. Returns 0 when that is done, and 1 when a thread is in the midst of something here: then nothing is.
int runtime_leave(const uintptr_t *thread_pointers, size_t count);
// Whether the process records, and is not vfork's child running on the parent's memory.
int runtime_records(void);

#endif
