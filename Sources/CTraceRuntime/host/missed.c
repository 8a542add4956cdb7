// Notes programs that the process starts and that cannot be recorded, because nothing can be preloaded into them, or
// because they could not open the buffers. From the notes, the recorder finds out which of these programs have hooks.
//
// Whether something can be preloaded has to be known before the program starts, because another C library's loader
// would end it for that. But what looks into its file must not have effects on the process, which may have locks on
// that file, and goes on if the program cannot be started. So the process itself only asks for names and kinds of
// files, and whatever opens one runs apart from it.

#include "base.h"

#include "apart.h"
#include "calls.h"
#include "runtime.h"
#include "text.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

FATHOM_WITHOUT_HOOKS

#define HEAD_SIZE 1024u  // bytes of a file that are read: ELF header, program headers, mostly the interpreter's path
#define SCRIPT_LIMIT 4   // how many scripts in a row may have a script as their interpreter

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

static int contains(const char *text, const char *end, const char *word) {
    for (; text < end; text++) {
        const char *at = text, *next = word;
        while (at < end && *next && *at == *next) at++, next++;
        if (!*next) return 1;
    }
    return 0;
}

// Returns whether a program's note, which is among its first headers, shows that the runtime is linked in.
static int has_runtime(long descriptor, uint64_t offset, uint64_t size) {
    char note[256];
    uint64_t room = size < sizeof note ? size : sizeof note;
    long read = SYSTEM(pread64, descriptor, note, room, offset, 0, 0);
    return read > 0 && contains(note, note + read, "Fathom");
}

static uint32_t reason_of_elf(long descriptor, const char *head, long size) {
    const Elf64_Ehdr *elf = (const Elf64_Ehdr *)head;
    if (size < (long)sizeof *elf || elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_machine != MACHINE)
        return FATHOM_MISSED_FOREIGN;
    const char *end = head + size;
    const Elf64_Phdr *header = (const Elf64_Phdr *)(head + elf->e_phoff);
    int is_ours = 0;
    for (uint32_t i = 0; i < elf->e_phnum && elf->e_phoff < HEAD_SIZE && (const char *)(header + 1) <= end;
         i++, header++) {
        if (header->p_type == PT_NOTE) is_ours |= has_runtime(descriptor, header->p_offset, header->p_filesz);
        if (header->p_type != PT_INTERP) continue;
        char path[256];
        uint64_t room = header->p_filesz < sizeof path ? header->p_filesz : sizeof path;
        long read = SYSTEM(pread64, descriptor, path, room, header->p_offset, 0, 0);
        // This is glibc's interpreter, whatever directory it is in; ld-musl-x86_64.so.1 is not.
        return read > 0 && contains(path, path + read, "/ld-musl-") ? FATHOM_MISSED_FOREIGN : 0;
    }
    return is_ours ? 0 : FATHOM_MISSED_STATIC;
}

static int gains_rights(long descriptor) {
    struct stat file;
    if (system_status(descriptor, &file)) return 0;
    return (file.st_mode & S_ISUID && file.st_uid != (uid_t)SYSTEM(geteuid, 0, 0, 0, 0, 0, 0)) ||
           ((file.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
            file.st_gid != (gid_t)SYSTEM(getegid, 0, 0, 0, 0, 0, 0));
}

// Replaces the script's text by the interpreter that its first line names. Returns 0 when it names none.
static int take_interpreter(char *head, long size) {
    char *from = head + 2, *end = head + size, *to = head;
    while (from < end && (*from == ' ' || *from == '\t')) from++;
    while (from < end && *from != ' ' && *from != '\t' && *from != '\n' && *from) *to++ = *from++;
    *to = 0;
    return to > head && from < end;
}

// To open another kind of file may have effects on whoever is at its other end, and none of these can be executed.
static int is_file(const char *path) {
    struct stat status;
    return !SYSTEM(newfstatat, AT_FDCWD, path, &status, 0, 0, 0) && S_ISREG(status.st_mode);
}

static uint32_t reason_of(const char *path) {
    _Alignas(8) char head[HEAD_SIZE];
    for (int scripts = 0; scripts <= SCRIPT_LIMIT; scripts++) {
        if (scripts && !is_file(head)) return 0;
        long descriptor = system_open(scripts ? head : path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (descriptor < 0) return 0;
        uint32_t reason = gains_rights(descriptor) ? FATHOM_MISSED_PRIVILEGED : 0;
        long size = system_read(descriptor, head, sizeof head);
        int is_elf = size > 4 && __builtin_memcmp(head, ELFMAG, SELFMAG) == 0;
        if (!reason && is_elf) reason = reason_of_elf(descriptor, head, size);
        system_close(descriptor);
        if (reason || is_elf || size < 4 || head[0] != '#' || head[1] != '!' || !take_interpreter(head, size))
            return reason;
    }
    return 0;
}

// Returns whether a new image of this process could open the buffers; also 1 when no descriptor is left to find out.
static int can_join(void) {
    long descriptor = system_open(runtime.path, O_RDWR);
    if (descriptor < 0) return descriptor == -EMFILE || descriptor == -ENFILE;
    int is_ours = system_inode(descriptor) == runtime.inode;
    system_close(descriptor);
    // A process that has changed its user may have kept rights that exec takes away. access(2) judges without them.
    int keeps_rights =
        SYSTEM(geteuid, 0, 0, 0, 0, 0, 0) == 0 || SYSTEM(faccessat, AT_FDCWD, runtime.path, R_OK | W_OK, 0, 0, 0) == 0;
    return is_ours && keeps_rights;
}

// Finds `file` in the program's PATH, by the rules of execvp. Returns NULL when it is not there.
static const char *find(const char *file, char *room, size_t size) {
    for (const char *c = file; *c; c++)
        if (*c == '/') return file;
    const char *list = "/bin:/usr/bin";
    for (char **variable = environ; variable && *variable; variable++)
        if (text_starts_with(*variable, "PATH=")) list = *variable + 5;
    for (;; list++) {
        char *to = room;
        for (; *list && *list != ':'; list++)
            if (to < room + size - 2) *to++ = *list;
        if (to > room) *to++ = '/';
        if (text_length(file) < (size_t)(room + size - to)) {
            __builtin_memcpy(to, file, text_length(file) + 1);
            if (is_file(room) && !SYSTEM(faccessat, AT_FDCWD, room, X_OK, 0, 0, 0)) return room;
        }
        if (!*list) return NULL;
    }
}

static int is_watching(void) {
    return runtime.buffers &&
           (runtime.state == STATE_OPEN || runtime.state == STATE_READY || runtime.state == STATE_FORKED);
}

// A program that nobody could look at is taken for one that can be recorded, as most can.
struct judged {
    const char *path;
    uint32_t reason;
};

static void judge(void *argument) {
    struct judged *judged = argument;
    uint32_t reason = reason_of(judged->path);
    judged->reason = reason || can_join() ? reason : FATHOM_MISSED_NO_ACCESS;
}

static int is_confined(void) { return !runtime.seccomp_mode && system_seccomp_mode() != 0; }

uint32_t fathom_missed_reason(const char *file, int is_searched) {
    char room[1024];
    if (!is_watching() || is_confined() || !system_can_read_text(file)) return 0;
    struct judged judged = {is_searched ? find(file, room, sizeof room) : file, 0};
    if (judged.path && is_file(judged.path)) apart_call(judge, &judged);
    return judged.reason;
}

// Returns a note's place, which is after the words of the slots; NULL when there is no room.
static struct fathom_missed *note_at(uint32_t index) {
    uint64_t offset = fathom_missed_offset(runtime.buffers->words_offset) + index * sizeof(struct fathom_missed);
    if (offset + sizeof(struct fathom_missed) > fathom_steering_offset(runtime.slots_offset)) return NULL;
    char *note = (char *)runtime.buffers + offset, *page = (char *)((uintptr_t)note & ~(PAGE_SIZE - 1));
    return system_populate(page, PAGE_SIZE) ? NULL : (struct fathom_missed *)note;
}

struct fathom_missed *fathom_note_missed(const char *file, int is_searched, uint32_t reason, uint32_t pid) {
    char room[1024];
    const char *path = is_searched ? find(file, room, sizeof room) : file;
    struct fathom_missed *note = path ? note_at(fathom_add32(&runtime.buffers->missed_count, 1)) : NULL;
    if (!note) return NULL;
    note->pid = pid ? pid : system_process_id();
    note->reason = reason;
    note->ticks = now_ticks();
    size_t used = 0;
    if (path[0] != '/') {
        long size = system_directory(note->path, sizeof note->path);
        used = size > 0 ? (size_t)size : 0;  // its NUL becomes the slash
        if (used) note->path[used - 1] = '/';
    }
    for (; *path && used < sizeof note->path; used++) note->path[used] = *path++;
    fathom_store32(&note->size, (uint32_t)used);  // release: the recorder takes the note when it has a size
    return note;
}

void fathom_take_back_missed(struct fathom_missed *note) {
    if (note) fathom_store32(&note->size, 0);
}

FATHOM_WITHOUT_HOOKS_END
