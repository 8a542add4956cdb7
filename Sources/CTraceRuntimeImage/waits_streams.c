// The functions of the C library's streams that may wait. The library itself reads and writes, so nobody stands before
// that. Where there is something in the buffer, a function is called at once.

#define _GNU_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1  // or the C library's headers define some of these functions
#endif
#include <stdio.h>

#include "masks.h"
#include "waiting.h"

FATHOM_WITHOUT_HOOKS

#undef getc
#undef getchar
#undef putc
#undef putchar

char *__fgets_chk(char *restrict line, size_t room, int size, FILE *restrict stream);
ssize_t __getdelim(char **restrict line, size_t *restrict size, int end, FILE *stream);
size_t __fread_chk(void *restrict bytes, size_t room, size_t size, size_t count, FILE *restrict stream);
int _IO_getc(FILE *stream);
int _IO_putc(int character, FILE *stream);

// These only choose what is told: another thread may be about to change the stream.
static size_t held(const FILE *stream) {
    return stream->_IO_read_ptr < stream->_IO_read_end ? (size_t)(stream->_IO_read_end - stream->_IO_read_ptr) : 0;
}
static size_t room(const FILE *stream) {
    return stream->_IO_write_ptr < stream->_IO_write_end ? (size_t)(stream->_IO_write_end - stream->_IO_write_ptr) : 0;
}

// Somebody may close the stream meanwhile, so it is not read afterwards.
#define STREAM(type, name, shown, flow, note, parameters, arguments)                                                   \
    int descriptor = stream->_fileno;                                                                                  \
    note(descriptor);                                                                                                  \
    struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_DESCRIPTOR, 0, flow);                              \
    type result = REAL(name) arguments;                                                                                \
    fathom_wait_ends(                                                                                                  \
        begin, (struct fathom_waited){FATHOM_WAIT_DESCRIPTOR, descriptor, 0, descriptor, flow, LEAST_DESCRIPTOR},      \
        HERE(shown));                                                                                                  \
    return result;

// `stream` is a parameter, or the argument `from`.
#define READING_FROM(type, name, shown, from, is_there, parameters, arguments)                                         \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR || (is_there) || (from)->_fileno < 0) JUMP REAL(name) arguments;                             \
        FILE *stream = from;                                                                                           \
        STREAM(type, name, shown, FATHOM_FLOW_DATA, fathom_note_room, parameters, arguments)                           \
    }
READING_FROM(char *, fgets, fgets, from, held(from), (char *restrict line, int size, FILE *restrict from),
             (line, size, from))
READING_FROM(char *, __fgets_chk, fgets, from, held(from),
             (char *restrict line, size_t room, int size, FILE *restrict from), (line, room, size, from))
// Before POSIX had it, programs and libraries had functions of their own by this name, with other parameters, and still
// do. What they pass may be anything.
static int is_stream(const FILE *stream) {
    return fathom_can_read(stream, sizeof *stream) && ((unsigned)stream->_flags & 0xffff0000u) == 0xfbad0000u;
}
READING_FROM(ssize_t, getline, getline, from, !is_stream(from) || held(from),
             (char **restrict line, size_t *restrict size, FILE *from), (line, size, from))
READING_FROM(ssize_t, getdelim, getdelim, from, held(from),
             (char **restrict line, size_t *restrict size, int end, FILE *from), (line, size, end, from))
// What getline is in optimised code.
READING_FROM(ssize_t, __getdelim, getdelim, from, held(from),
             (char **restrict line, size_t *restrict size, int end, FILE *from), (line, size, end, from))
READING_FROM(size_t, fread, fread, from, held(from) && held(from) / (size | !size) >= count,
             (void *restrict bytes, size_t size, size_t count, FILE *restrict from), (bytes, size, count, from))
READING_FROM(size_t, __fread_chk, fread, from, held(from) && held(from) / (size | !size) >= count,
             (void *restrict bytes, size_t room, size_t size, size_t count, FILE *restrict from),
             (bytes, room, size, count, from))
READING_FROM(int, fgetc, fgetc, from, held(from), (FILE * from), (from))
READING_FROM(int, getc, getc, from, held(from), (FILE * from), (from))
READING_FROM(int, _IO_getc, getc, from, held(from), (FILE * from), (from))
READING_FROM(int, getchar, getchar, stdin, held(stdin), (void), ())

// What goes to a buffer ends nobody's wait, and neither does a line that is not complete; a stream that has no room, or
// writes each line, is about to write.
#define WRITING_TO(type, name, to, is_free, parameters, arguments)                                                     \
    EXPORT type name parameters {                                                                                      \
        if (!IS_ASKED_FOR || (is_free) || (to)->_fileno < 0) JUMP REAL(name) arguments;                                \
        FILE *stream = to;                                                                                             \
        STREAM(type, name, name, FATHOM_FLOW_ROOM, fathom_note_data, parameters, arguments)                            \
    }
WRITING_TO(size_t, fwrite, to, room(to) && room(to) / (size | !size) > count,
           (const void *restrict bytes, size_t size, size_t count, FILE *restrict to), (bytes, size, count, to))
WRITING_TO(int, fputs, to, room(to) > __builtin_strlen(text), (const char *restrict text, FILE *restrict to),
           (text, to))
WRITING_TO(int, puts, stdout, room(stdout) > __builtin_strlen(text) + 1, (const char *text), (text))
WRITING_TO(int, fputc, to, room(to) > 1, (int character, FILE *to), (character, to))
WRITING_TO(int, putc, to, room(to) > 1, (int character, FILE *to), (character, to))
WRITING_TO(int, _IO_putc, to, room(to) > 1, (int character, FILE *to), (character, to))
WRITING_TO(int, putchar, stdout, room(stdout) > 1, (int character), (character))

EXPORT int fflush(FILE *to) {
    if (!IS_ASKED_FOR || !to || to->_fileno < 0 || to->_IO_write_ptr <= to->_IO_write_base) JUMP REAL(fflush)(to);
    FILE *stream = to;
    STREAM(int, fflush, fflush, FATHOM_FLOW_ROOM, fathom_note_data, (FILE * to), (to))
}

// ---- a stream's lock

EXPORT void flockfile(FILE *stream) {
    if (!IS_ASKED_FOR) JUMP REAL(flockfile)(stream);
    if (REAL(ftrylockfile)(stream)) {
        struct fathom_wait_begin begin = fathom_wait_begins(FATHOM_WAIT_MUTEX, PLACE(stream), FATHOM_FLOW_NONE);
        REAL(flockfile)(stream);
        fathom_wait_ends(begin, (struct fathom_waited){FATHOM_WAIT_MUTEX, -1, PLACE(stream), -1, FATHOM_FLOW_NONE, 0},
                         HERE(flockfile));
    }
    TAKEN(stream);
}
EXPORT int ftrylockfile(FILE *lock) {
    if (!IS_ASKED_FOR) JUMP REAL(ftrylockfile)(lock);
    int result = REAL(ftrylockfile)(lock);
    if (result == 0) TAKEN(lock);
    return result;
}
EXPORT void funlockfile(FILE *stream) {
    if (IS_ASKED_FOR) fathom_note_release(FATHOM_WAIT_MUTEX, PLACE(stream));
    JUMP REAL(funlockfile)(stream);
}

FATHOM_WITHOUT_HOOKS_END
