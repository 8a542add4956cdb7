// Imports ncurses with wide characters (Debian: libncurses-dev), and adds functions for its macros, which Swift does
// not import, and for its global variables, which Swift's concurrency checks refuse.
#define _XOPEN_SOURCE_EXTENDED 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <term.h>

static inline WINDOW *fathom_curses_window(void) { return stdscr; }

// Opens the terminal of standard input and output. Returns NULL when terminfo does not know the terminal.
static inline SCREEN *fathom_curses_begin(void) { return newterm(NULL, stdout, stdin); }

enum fathom_curses_style {
    fathom_curses_bold = 1,
    fathom_curses_dim = 2,
    fathom_curses_reverse = 4,
    fathom_curses_underline = 8
};

// Sets the styles of the text that is written from now on, and its pair of colours; pair 0 is the terminal's own.
static inline void fathom_curses_set(int styles, int pair) {
    chtype attributes = COLOR_PAIR(pair);
    if (styles & fathom_curses_bold) attributes |= A_BOLD;
    if (styles & fathom_curses_dim) attributes |= A_DIM;
    if (styles & fathom_curses_reverse) attributes |= A_REVERSE;
    if (styles & fathom_curses_underline) attributes |= A_UNDERLINE;
    wattrset(stdscr, (int)attributes);
}

// Returns the name of the locale's character encoding, such as UTF-8.
static inline const char *fathom_curses_codeset(void) { return nl_langinfo(CODESET); }
