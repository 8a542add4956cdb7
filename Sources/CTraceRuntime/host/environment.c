// Adds the variables to an environment that a new program image needs to be recorded. A program may make an environment
// of its own for the programs that it starts. In this environment, Fathom's variables are missing, or LD_PRELOAD names
// a library of the program instead of the runtime.

#include "runtime.h"

#include "text.h"

FATHOM_WITHOUT_HOOKS

#define SESSION "FATHOM_SESSION="
#define PRELOAD "LD_PRELOAD="
#define ROOM_LIMIT (256ul * 1024)  // on the stack of the thread that starts a program

// Fathom's variables in this image's environment when it started; empty where there were none.
static char session[sizeof SESSION + PATH_SIZE];  // the variable
static char library[PATH_SIZE];                   // the part of LD_PRELOAD that names the runtime

static char *append(char *to, const char *text) {
    while (*text) *to++ = *text++;
    return to;
}

// Returns the end of the first entry of an LD_PRELOAD.
static const char *entry_end(const char *list) {
    while (*list && *list != ':' && *list != ' ') list++;
    return list;
}

static int names_runtime(const char *entry, const char *end) {
    const char *name = end;
    while (name > entry && name[-1] != '/') name--;
    return text_starts_with(name, "libfathom") && text_starts_with(name + sizeof "libfathom" - 1, ".so");
}

static void keep_library(const char *list) {
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = entry_end(list);
        if (!names_runtime(list, end) || (size_t)(end - list) >= sizeof library) continue;
        __builtin_memcpy(library, list, (size_t)(end - list));
        library[end - list] = 0;
        return;
    }
}

void environment_keep(char **environment) {
    for (; *environment; environment++) {
        if (text_starts_with(*environment, SESSION) && text_length(*environment) < sizeof session)
            *append(session, *environment) = 0;
        if (text_starts_with(*environment, PRELOAD)) keep_library(*environment + sizeof PRELOAD - 1);
    }
}

static int lists_library(const char *list) {
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = entry_end(list);
        if ((size_t)(end - list) == text_length(library) && text_starts_with(list, library)) return 1;
    }
    return 0;
}

// Returns the value of an environment's LD_PRELOAD, or "".
static const char *preloaded(char *const *environment) {
    for (; environment && *environment; environment++)
        if (text_starts_with(*environment, PRELOAD)) return *environment + sizeof PRELOAD - 1;
    return "";
}

// Returns whether an environment lacks the variables by mistake. A program that sets FATHOM_SESSION to another session,
// or to nothing, means to keep what it starts out of this recording.
static int lacks_ours(char *const *environment) {
    int has_session = 0;
    for (char *const *variable = environment; variable && *variable; variable++) {
        if (!text_starts_with(*variable, SESSION)) continue;
        size_t size = text_length(session);
        if (text_length(*variable) != size || !text_starts_with(*variable, session)) return 0;
        has_session = 1;
    }
    return !has_session || !lists_library(preloaded(environment));
}

// Copies a list to `to`, without the runtime's entry. Returns the end of the copy.
static char *append_others(char *to, const char *list) {
    char *start = to;
    for (const char *end; *list; list = *end ? end + 1 : end) {
        end = entry_end(list);
        if (end == list || ((size_t)(end - list) == text_length(library) && text_starts_with(list, library))) continue;
        if (to > start) *to++ = ':';
        while (list < end) *to++ = *list++;
    }
    return to;
}

size_t fathom_environment_room(char *const *environment, uint32_t reason) {
    // The kernel says what it cannot read. It takes NULL for an environment without variables.
    if (!session[0] || !library[0] || (environment && !system_can_read_texts(environment))) return 0;
    int is_foreign = reason == FATHOM_MISSED_FOREIGN;
    if (is_foreign ? !lists_library(preloaded(environment)) : !lacks_ours(environment)) return 0;
    size_t count = 0;
    while (environment && environment[count]) count++;
    size_t text = sizeof PRELOAD + text_length(library) + sizeof ":" + text_length(preloaded(environment));
    size_t room = (count + 3) * sizeof *environment + text;
    return room <= ROOM_LIMIT ? room : 0;
}

char *const *fathom_environment(char *const *environment, uint32_t reason, void *room) {
    char **variables = room, **next = variables;
    const char *theirs = preloaded(environment);
    for (char *const *variable = environment; variable && *variable; variable++)
        if (!text_starts_with(*variable, SESSION) && !text_starts_with(*variable, PRELOAD)) *next++ = *variable;
    *next++ = session;
    char *text = (char *)(next + 2);
    *next++ = text;
    *next = NULL;
    text = append(text, PRELOAD);
    if (reason == FATHOM_MISSED_FOREIGN) {
        char *list = text;
        text = append_others(text, theirs);
        if (text == list) next[-1] = NULL;  // nothing is left of it
    } else {
        text = append(text, library);
        if (*theirs) text = append(append(text, ":"), theirs);
    }
    *text = 0;
    return variables;
}

// ---- For a shell

static size_t quoted_size(const char *text) {
    size_t size = 0;
    for (; *text; text++) size += *text == '\'' ? 4 : 1;
    return size;
}

// Appends `text` with each single quote escaped. Within single quotes, a shell takes all other characters literally.
static char *append_quoted(char *to, const char *text) {
    for (; *text; text++) {
        if (*text == '\'') to = append(to, "'\\'");
        *to++ = *text;
    }
    return to;
}

#define EXPORT_SESSION "export " SESSION "'"
#define EXPORT_PRELOAD "' " PRELOAD "'"

size_t fathom_command_room(char *const *environment, const char *command) {
    if (!system_can_read_text(command) || !fathom_environment_room(environment, 0)) return 0;
    size_t room = sizeof EXPORT_SESSION + quoted_size(session) + sizeof EXPORT_PRELOAD + quoted_size(library) +
                  sizeof ":" + quoted_size(preloaded(environment)) + sizeof "'; " + text_length(command);
    return room <= ROOM_LIMIT ? room : 0;
}

const char *fathom_command(char *const *environment, const char *command, void *room) {
    const char *theirs = preloaded(environment);
    char *text = append_quoted(append(room, EXPORT_SESSION), session + sizeof SESSION - 1);
    text = append_quoted(append(text, EXPORT_PRELOAD), library);
    if (*theirs) text = append_quoted(append(text, ":"), theirs);
    *append(append(text, "'; "), command) = 0;
    return room;
}

FATHOM_WITHOUT_HOOKS_END
