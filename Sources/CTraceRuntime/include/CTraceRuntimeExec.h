// What stands before the functions that start programs. It passes on what the program needs in its environment to be
// recorded. A child of vfork may come here, so nothing allocates, and what is made lies on the caller's stack.
//
// Programs that cannot be recorded are noted. The program's memory may be any address: the kernel says which it cannot
// read.
//
// A file that includes this says how the functions are called: FATHOM_NEW(name) is the symbol to define, and
// FATHOM_REAL(name) what is behind it.

#ifndef CTRACERUNTIMEEXEC_H
#define CTRACERUNTIMEEXEC_H

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "CTraceRuntime.h"

#define FATHOM_DEFINE __attribute__((visibility("default"), no_instrument_function))

// The environment to pass, and how `call` fares with it, as an error number. When the environment is too large for the
// kernel, that is not the program's fault.
#define FATHOM_PASS_ON(environment, error, call)                                                                       \
    size_t room = fathom_environment_room(environment, reason);                                                        \
    char *memory[room / sizeof(char *) + 1], *const *variables = environment;                                          \
    if (room) variables = fathom_environment(environment, reason, memory);                                             \
    fathom_traps_pass_on();                                                                                            \
    call;                                                                                                              \
    if (room && (error) == E2BIG) {                                                                                    \
        variables = environment;                                                                                       \
        call;                                                                                                          \
    }                                                                                                                  \
    fathom_traps_passed_on();

// ---- exec. The functions that take the environment of the process call the same functions with an environment.

#define FATHOM_EXEC(file, is_searched, environment, call)                                                              \
    int result;                                                                                                        \
    uint32_t reason = fathom_missed_reason(file, is_searched);                                                         \
    struct fathom_missed *note = reason ? fathom_note_missed(file, is_searched, reason, 0) : NULL;                     \
    fathom_note_exec();                                                                                                \
    FATHOM_PASS_ON(environment, result < 0 ? errno : 0, result = call)                                                 \
    fathom_note_failed_exec();                                                                                         \
    fathom_take_back_missed(note);                                                                                     \
    return result

FATHOM_DEFINE int FATHOM_NEW(execve)(const char *path, char *const *arguments, char *const *environment) {
    FATHOM_EXEC(path, 0, environment, FATHOM_REAL(execve)(path, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(execv)(const char *path, char *const *arguments) {
    FATHOM_EXEC(path, 0, environ, FATHOM_REAL(execve)(path, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(execvpe)(const char *file, char *const *arguments, char *const *environment) {
    FATHOM_EXEC(file, 1, environment, FATHOM_REAL(execvpe)(file, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(execvp)(const char *file, char *const *arguments) {
    FATHOM_EXEC(file, 1, environ, FATHOM_REAL(execvpe)(file, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(fexecve)(int descriptor, char *const *arguments, char *const *environment) {
    FATHOM_EXEC(NULL, 0, environment, FATHOM_REAL(fexecve)(descriptor, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(execveat)(int directory, const char *path, char *const *arguments,
                                       char *const *environment, int flags) {
    FATHOM_EXEC(NULL, 0, environment, FATHOM_REAL(execveat)(directory, path, arguments, variables, flags));
}

// The functions that are given their arguments one by one do as the C library does. Then `arguments` is an array.
#define FATHOM_COLLECT_ARGUMENTS                                                                                       \
    va_list list;                                                                                                      \
    size_t count = 1;                                                                                                  \
    va_start(list, first);                                                                                             \
    for (const char *next = first; next; count++) next = va_arg(list, const char *);                                   \
    va_end(list);                                                                                                      \
    char *arguments[count];                                                                                            \
    arguments[0] = (char *)first;                                                                                      \
    va_start(list, first);                                                                                             \
    for (size_t i = 1; i < count; i++) arguments[i] = va_arg(list, char *);

FATHOM_DEFINE int FATHOM_NEW(execl)(const char *path, const char *first, ...) {
    FATHOM_COLLECT_ARGUMENTS
    va_end(list);
    FATHOM_EXEC(path, 0, environ, FATHOM_REAL(execve)(path, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(execlp)(const char *file, const char *first, ...) {
    FATHOM_COLLECT_ARGUMENTS
    va_end(list);
    FATHOM_EXEC(file, 1, environ, FATHOM_REAL(execvpe)(file, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(execle)(const char *path, const char *first, ...) {
    FATHOM_COLLECT_ARGUMENTS
    char *const *environment = va_arg(list, char **);
    va_end(list);
    FATHOM_EXEC(path, 0, environment, FATHOM_REAL(execve)(path, arguments, variables));
}

// ---- spawn

#define FATHOM_SPAWN(file, is_searched, call)                                                                          \
    int result;                                                                                                        \
    pid_t child;                                                                                                       \
    if (!pid) pid = &child;                                                                                            \
    uint32_t reason = fathom_missed_reason(file, is_searched);                                                         \
    FATHOM_PASS_ON(environment, result, result = call)                                                                 \
    if (reason && !result) fathom_note_missed(file, is_searched, reason, (uint32_t)*pid);                              \
    return result

FATHOM_DEFINE int FATHOM_NEW(posix_spawn)(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                                          const posix_spawnattr_t *attributes, char *const *arguments,
                                          char *const *environment) {
    FATHOM_SPAWN(path, 0, FATHOM_REAL(posix_spawn)(pid, path, actions, attributes, arguments, variables));
}

FATHOM_DEFINE int FATHOM_NEW(posix_spawnp)(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                                           const posix_spawnattr_t *attributes, char *const *arguments,
                                           char *const *environment) {
    FATHOM_SPAWN(file, 1, FATHOM_REAL(posix_spawnp)(pid, file, actions, attributes, arguments, variables));
}

// ---- A shell's commands. The C library starts the shell with the environment of the process, which other threads use,
// too. Where that lacks what is needed, the command tells the shell.

FATHOM_DEFINE int FATHOM_NEW(system)(const char *command) {
    size_t room = fathom_command_room(environ, command);
    char memory[room + 1];
    if (room) command = fathom_command(environ, command, memory);
#ifdef FATHOM_SYSTEM
    FATHOM_SYSTEM(command)
#endif
    return FATHOM_REAL(system)(command);
}

FATHOM_DEFINE FILE *FATHOM_NEW(popen)(const char *command, const char *mode) {
    size_t room = fathom_command_room(environ, command);
    char memory[room + 1];
    return FATHOM_REAL(popen)(room ? fathom_command(environ, command, memory) : command, mode);
}

#endif
