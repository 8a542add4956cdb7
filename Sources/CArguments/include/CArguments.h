// The command line of this process, as the C library passes it to constructors.

#ifndef CARGUMENTS_H
#define CARGUMENTS_H

// Path by which this program was started, or NULL; may be relative to where it was then.
const char *fathom_executed_path(void);

#endif
