// Waiting for the recorder.

#ifndef FATHOM_AWAIT_H
#define FATHOM_AWAIT_H

// Waits briefly for a slot to be given back, if the recorder would do that but gets no processor.
void await_slot(void);
void await_expect_recorder(void);  // says that the recorder, about to be woken, is not late

#endif
