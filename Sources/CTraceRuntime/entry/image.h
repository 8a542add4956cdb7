// What the process does before its main function.

#ifndef FATHOM_IMAGE_H
#define FATHOM_IMAGE_H

// The process has opened its session: if that asks for it, each initialiser is noted from here on.
void startup_begin(void);
// The image is about to end. What was noted is written.
void startup_end(void);

// The traps of first calls.

// Takes all traps away, for good: what is called first from here on is not recorded. Makes system calls.
void traps_give_up(void);

#endif
