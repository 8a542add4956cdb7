// The table of modes. A row has the mode's number (control_mode, in runtime.h), a name, and the condition on which
// calls are recorded in that mode, given `options` and `is_stopped` (runtime.h). The first row whose condition holds is
// taken. What the mode's slow paths tell of calls is the table NAME_mode (follow/mode.h), in modes/NAME.c.
//
// The rows of RECORDING_MODES record all calls. Their hooks are NAME_enter, NAME_exit and NAME_exit_any in
// modes/NAME.c; the hooks' machine code compares the mode with their numbers, in the order of the rows, and jumps
// there. In the other modes there are calls that leave no record, which the hooks themselves follow (entry/hooks.c).
// COUNTS and PROFILE keep no records, but what all calls add up to, whatever other options say. STACK keeps nothing.

#ifndef FATHOM_MODES_H
#define FATHOM_MODES_H

#define FIRST_MODE(ROW, extra) /* times are read from the CPU's counter */                                             \
    ROW(1, TRACE, trace, !options->slow && !options->has_ring && !options->keeps, extra)
// These numbers are from LEAST_LATER_MODE on, and the other modes' numbers are below: the hooks need one comparison.
#define LATER_MODES(ROW, extra)                                                                                        \
    ROW(8, STACK, stack, options->keeps == FATHOM_KEEPS_SAMPLES, extra)   /* the recorder is shown what is open */     \
    ROW(5, COUNTS, counts, options->keeps == FATHOM_KEEPS_COUNTS, extra)  /* paths are counted; no clock is read */    \
    ROW(6, PROFILE, profile, options->keeps == FATHOM_KEEPS_TIMES, extra) /* paths are added up */                     \
    ROW(7, FLIGHT, flight, !options->slow, extra)                         /* and the recorder hears of long calls */
#define LEAST_LATER_MODE 5
#define RECORDING_MODES(ROW, extra) FIRST_MODE(ROW, extra) LATER_MODES(ROW, extra)
#define MODES(ROW, extra)                                                                                              \
    ROW(4, PAUSED, paused, is_stopped, extra) /* open calls are followed, nothing is told of them */                   \
    RECORDING_MODES(ROW, extra)                                                                                        \
    ROW(2, SLOW, slow, 1, extra) /* options leave calls out, or the clock is a system call */
#define MODE_LIMIT 9             // numbers are below it

// The process's mode. The first hook leads on from UNKNOWN. A fork's child starts there again, because the kernel wipes
// the page. `fathom ctl` does what stop() and start() do; a change of limits, or functions that it names, lead from
// TRACE to SLOW. Attaching leads from any mode to UNKNOWN, and detaching to OFF.
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
// SLOW never leads back to TRACE: threads may have filters by then. FLIGHT stands where TRACE does. So do COUNTS,
// PROFILE and STACK, which become no SLOW.
#define MODE_NUMBER(number, NAME, name, condition, extra) MODE_##NAME = number,
enum { MODE_UNKNOWN = 0, MODE_OFF = 3, MODES(MODE_NUMBER, ) };
#undef MODE_NUMBER

#endif
