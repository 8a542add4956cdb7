// What the process does before its main function.

#ifndef FATHOM_STARTUP_H
#define FATHOM_STARTUP_H

// The process has opened its session: if that asks for it, each initialiser is noted from here on.
void startup_begin(void);
// The image is about to end. What was noted is written.
void startup_end(void);

#endif
