// The table of modes, which the hooks go on with. A row has the number that the hooks' machine code compares with
// control.mode, and a name. The mode's hooks are NAME_enter, NAME_exit and NAME_exit_any; what its slow paths tell of
// calls is the table NAME_mode (follow/mode.h); and all of these are in modes/NAME.c. The rows are in the order in
// which hooks compare. Numbers 0 and 3 are no modes: they are for threads that do not know yet what to do, or have
// nothing to do.

#ifndef FATHOM_MODES_H
#define FATHOM_MODES_H

#define MODES(ROW, extra)                                                                                              \
    ROW(1, TRACE, trace, extra) /* every call is recorded, times are read from the CPU's counter */                    \
    ROW(4, PAUSED, paused, extra) /* recording is stopped: open calls are followed, nothing is told of them */         \
    ROW(2, SLOW, slow, extra) /* options leave calls out, or the clock is a system call */
#define MODE_LIMIT 8  // numbers are below it

// control.mode. The first hook leads on from UNKNOWN. A fork's child starts there again, because the kernel wipes the
// page.
//
//            the session opens  ...and cannot  stop()   start()          the program confines itself   fork
//   UNKNOWN  TRACE, SLOW or     OFF            -        -                OFF                           -
//            PAUSED, as options
//            say
//   TRACE    -                  -              PAUSED   SLOW if options  OFF                           UNKNOWN
//                                                       have changed
//   SLOW     -                  -              PAUSED   -                OFF                           UNKNOWN
//   PAUSED   -                  -              -        TRACE or SLOW    OFF                           UNKNOWN
//   OFF      -                  -              -        -                what it was, if the attempt   UNKNOWN
//                                                                        to confine fails
//
// SLOW never leads back to TRACE: threads may have filters by then.
#define MODE_NUMBER(number, NAME, name, extra) MODE_##NAME = number,
enum { MODE_UNKNOWN = 0, MODE_OFF = 3, MODES(MODE_NUMBER, ) };
#undef MODE_NUMBER

#endif
