// ncurses with wide characters (Debian: libncurses-dev), and functions for what it has as macros and variables, which
// Swift does not see or does not trust.
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <term.h>

static inline WINDOW *fathom_curses_window(void) { return stdscr; }

// Takes the terminal of standard input and output; NULL when terminfo does not know it.
static inline SCREEN *fathom_curses_begin(void) { return newterm(NULL, stdout, stdin); }

enum fathom_curses_style {
    fathom_curses_bold = 1,
    fathom_curses_dim = 2,
    fathom_curses_reverse = 4,
    fathom_curses_underline = 8
};

// Text that follows has these styles, and the colours of a pair; 0 is the terminal's own.
static inline void fathom_curses_set(int styles, int pair) {
    chtype attributes = COLOR_PAIR(pair);
    if (styles & fathom_curses_bold) attributes |= A_BOLD;
    if (styles & fathom_curses_dim) attributes |= A_DIM;
    if (styles & fathom_curses_reverse) attributes |= A_REVERSE;
    if (styles & fathom_curses_underline) attributes |= A_UNDERLINE;
    wattrset(stdscr, (int)attributes);
}

// How the locale writes characters, as in UTF-8.
static inline const char *fathom_curses_codeset(void) { return nl_langinfo(CODESET); }
