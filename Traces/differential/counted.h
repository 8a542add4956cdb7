// What the programs of Tools/differential note of themselves: how often each function was called, and with what.
//
//   COUNTS=file    becomes an array of one 64-bit number for each function, complete at every moment; shared with
//   children VALUES=file    receives a line for each call of the first thread: the function's number, then name=value,
//   with tabs
//
// Without -DCOUNTED, nothing is noted, and nothing of this is in the functions' code.

#ifndef COUNTED_H
#define COUNTED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "../programs/program.h"

#ifdef COUNTED
#include <sys/mman.h>
#include <sys/syscall.h>

#define FUNCTIONS 1024
#define VALUE_LINES 3000
#define LINE 4096

static uint64_t counts_without_file[FUNCTIONS];
static uint64_t *counts = counts_without_file;
static int values = -1, value_lines;
static pid_t first_process;
static char line[LINE];
static unsigned line_length;

QUIET __attribute__((constructor(101))) static void open_counts(void) {
    const char *path = getenv("COUNTS");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (file >= 0 && !ftruncate(file, sizeof counts_without_file)) {
        void *memory = mmap(NULL, sizeof counts_without_file, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) counts = (uint64_t *)memory;
    }
    if (file >= 0) close(file);
    first_process = getpid();
    path = getenv("VALUES");
    if (path) values = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

QUIET __attribute__((noinline)) static void count_call(unsigned number) {
    __atomic_fetch_add(&counts[number], 1, __ATOMIC_RELAXED);
}

QUIET static int is_noting(void) {
    return values >= 0 && value_lines < VALUE_LINES && syscall(SYS_gettid) == first_process;
}

QUIET __attribute__((noinline)) static void begin_values(const char *kind, unsigned number) {
    if (is_noting()) line_length = (unsigned)snprintf(line, LINE, "%s%u", kind, number);
}

QUIET __attribute__((noinline)) static void note_value(const char *name, long long value) {
    if (is_noting() && line_length < LINE - 100)
        line_length += (unsigned)snprintf(line + line_length, 100, "\t%.40s=%lld", name, value);
}

QUIET __attribute__((noinline)) static void end_values(void) {
    if (!is_noting()) return;
    line[line_length++] = '\n';
    if (write(values, line, line_length) < 0) values = -1;
    value_lines++;
}

#define COUNT_CALL(number) count_call(number)
#define BEGIN_VALUES(number) begin_values("f", number)
#define VALUE(name) note_value(#name, (long long)(name))
#define END_VALUES end_values()
#define RESULT(type, number, value)                                                                                    \
    ({                                                                                                                 \
        type result = (value);                                                                                         \
        begin_values("r", number);                                                                                     \
        note_value("result", (long long)result);                                                                       \
        end_values();                                                                                                  \
        result;                                                                                                        \
    })
#else
#define COUNT_CALL(number) ((void)0)
#define BEGIN_VALUES(number) ((void)0)
#define VALUE(name) ((void)0)
#define END_VALUES ((void)0)
#define RESULT(type, number, value) (value)
#endif

#endif
