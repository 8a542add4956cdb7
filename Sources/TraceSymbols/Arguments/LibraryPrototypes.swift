/// What well-known functions of the C library take and return, for calls of libraries that have no debug information.
///
/// Each line is a function's result and name, and its arguments with their types:
///
///     i u l z    int, unsigned, long, size_t        p    a pointer
///     s          text                               d    double
///     o x        unsigned in octal or in hex, which are shown as numbers
///     v          nothing (results only)
///
/// An argument list that ends with `...` goes on in ways that only the others tell.
public struct LibraryPrototype: Sendable {
    var result: Character
    var arguments: [(name: String, type: Character)]

    /// nil when the function is not one of the C library, or not known.
    ///
    /// - Complexity: O(1) after the table is read.
    public init?(of name: String, in library: String) {
        let file = library.split(separator: "/").last ?? ""
        #if arch(x86_64)
            let isKnown = ["libc.so", "libm.so", "libpthread.so", "libdl.so", "librt.so"].contains {
                file.hasPrefix($0)
            }
        #else
            let isKnown = false
        #endif
        guard isKnown, let known = Self.all[name] else { return nil }
        self = known
    }

    private init(result: Character, arguments: [(name: String, type: Character)]) {
        (self.result, self.arguments) = (result, arguments)
    }

    private static let all: [String: LibraryPrototype] = {
        var all: [String: LibraryPrototype] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            let arguments = words.dropFirst(2).compactMap { word in
                word == "..." ? nil : (name: String(word.dropFirst(2)), type: word.first!)
            }
            all[String(words[1])] = LibraryPrototype(result: words[0].first!, arguments: arguments)
        }
        return all
    }()

    private static let table = """
        i open s:path x:flags ...
        i open64 s:path x:flags ...
        i openat i:dirfd s:path x:flags ...
        i openat64 i:dirfd s:path x:flags ...
        i creat s:path o:mode
        i close i:fd
        l read i:fd p:buffer z:count
        l write i:fd p:buffer z:count
        l pread i:fd p:buffer z:count l:offset
        l pread64 i:fd p:buffer z:count l:offset
        l pwrite i:fd p:buffer z:count l:offset
        l pwrite64 i:fd p:buffer z:count l:offset
        l readv i:fd p:vectors i:count
        l writev i:fd p:vectors i:count
        l lseek i:fd l:offset i:whence
        l lseek64 i:fd l:offset i:whence
        i dup i:fd
        i dup2 i:fd i:to
        i dup3 i:fd i:to x:flags
        i pipe p:ends
        i pipe2 p:ends x:flags
        i fcntl i:fd i:command ...
        i fcntl64 i:fd i:command ...
        i ioctl i:fd u:request ...
        i fsync i:fd
        i fdatasync i:fd
        i ftruncate i:fd l:length
        i ftruncate64 i:fd l:length
        i truncate s:path l:length
        i stat s:path p:status
        i stat64 s:path p:status
        i lstat s:path p:status
        i lstat64 s:path p:status
        i fstat i:fd p:status
        i fstat64 i:fd p:status
        i fstatat i:dirfd s:path p:status x:flags
        i fstatat64 i:dirfd s:path p:status x:flags
        i statx i:dirfd s:path x:flags x:mask p:status
        i access s:path x:mode
        i faccessat i:dirfd s:path x:mode x:flags
        i unlink s:path
        i unlinkat i:dirfd s:path x:flags
        i remove s:path
        i rename s:from s:to
        i renameat i:dirfd s:from i:todirfd s:to
        i link s:from s:to
        i symlink s:target s:path
        l readlink s:path p:buffer z:size
        i mkdir s:path o:mode
        i mkdirat i:dirfd s:path o:mode
        i rmdir s:path
        i chdir s:path
        i fchdir i:fd
        p getcwd p:buffer z:size
        i chmod s:path o:mode
        i fchmod i:fd o:mode
        i chown s:path u:owner u:group
        i fchown i:fd u:owner u:group
        o umask o:mask
        p opendir s:path
        p fdopendir i:fd
        p readdir p:directory
        p readdir64 p:directory
        i closedir p:directory
        p realpath s:path p:buffer
        i mkstemp p:template
        i mkostemp p:template x:flags
        i socket i:domain i:type i:protocol
        i bind i:fd p:address u:length
        i listen i:fd i:backlog
        i accept i:fd p:address p:length
        i accept4 i:fd p:address p:length x:flags
        i connect i:fd p:address u:length
        l send i:fd p:buffer z:count x:flags
        l sendto i:fd p:buffer z:count x:flags p:address u:length
        l sendmsg i:fd p:message x:flags
        l recv i:fd p:buffer z:count x:flags
        l recvfrom i:fd p:buffer z:count x:flags p:address p:length
        l recvmsg i:fd p:message x:flags
        i setsockopt i:fd i:level i:option p:value u:length
        i getsockopt i:fd i:level i:option p:value p:length
        i shutdown i:fd i:how
        i getaddrinfo s:node s:service p:hints p:result
        i poll p:descriptors l:count i:timeout
        i select i:count p:read p:write p:except p:timeout
        i epoll_create i:size
        i epoll_create1 x:flags
        i epoll_ctl i:epfd i:operation i:fd p:event
        i epoll_wait i:epfd p:events i:count i:timeout
        i eventfd u:value x:flags
        p mmap p:address z:length x:protection x:flags i:fd l:offset
        p mmap64 p:address z:length x:protection x:flags i:fd l:offset
        i munmap p:address z:length
        i mprotect p:address z:length x:protection
        i madvise p:address z:length i:advice
        p mremap p:address z:length z:to x:flags
        p malloc z:size
        p calloc z:count z:size
        p realloc p:block z:size
        p reallocarray p:block z:count z:size
        v free p:block
        p aligned_alloc z:alignment z:size
        p memalign z:alignment z:size
        i posix_memalign p:block z:alignment z:size
        p memcpy p:to p:from z:count
        p memmove p:to p:from z:count
        p mempcpy p:to p:from z:count
        p memset p:to i:byte z:count
        i memcmp p:one p:other z:count
        p memchr p:in i:byte z:count
        z strlen s:text
        z strnlen p:text z:limit
        i strcmp s:one s:other
        i strncmp p:one p:other z:count
        i strcasecmp s:one s:other
        i strncasecmp p:one p:other z:count
        i strcoll s:one s:other
        p strcpy p:to s:from
        p strncpy p:to p:from z:count
        p stpcpy p:to s:from
        p strcat s:to s:from
        s strdup s:text
        p strndup p:text z:count
        s strchr s:in i:character
        s strrchr s:in i:character
        s strchrnul s:in i:character
        s strstr s:in s:text
        s strpbrk s:in s:any
        z strspn s:in s:any
        z strcspn s:in s:any
        s strerror i:error
        i atoi s:text
        l atol s:text
        d atof s:text
        l strtol s:text p:end i:base
        z strtoul s:text p:end i:base
        l strtoll s:text p:end i:base
        z strtoull s:text p:end i:base
        d strtod s:text p:end
        s getenv s:name
        s secure_getenv s:name
        i setenv s:name s:value i:overwrite
        i unsetenv s:name
        i putenv s:text
        p fopen s:path s:mode
        p fopen64 s:path s:mode
        p fdopen i:fd s:mode
        p freopen s:path s:mode p:stream
        i fclose p:stream
        i fflush p:stream
        z fread p:buffer z:size z:count p:stream
        z fwrite p:buffer z:size z:count p:stream
        p fgets p:buffer i:size p:stream
        i fputs s:text p:stream
        i puts s:text
        i fputc i:character p:stream
        i putc i:character p:stream
        i fgetc p:stream
        i getc p:stream
        i ungetc i:character p:stream
        i fseek p:stream l:offset i:whence
        l ftell p:stream
        i printf s:format ...
        i fprintf p:stream s:format ...
        i dprintf i:fd s:format ...
        i sprintf p:to s:format ...
        i snprintf p:to z:size s:format ...
        i __printf_chk i:flag s:format ...
        i __fprintf_chk p:stream i:flag s:format ...
        i perror s:text
        l getline p:line p:size p:stream
        l getdelim p:line p:size i:delimiter p:stream
        v qsort p:base z:count z:size p:compare
        p bsearch p:key p:base z:count z:size p:compare
        p dlopen s:path x:flags
        p dlsym p:handle s:name
        i execve s:path p:arguments p:environment
        i execv s:path p:arguments
        i execvp s:file p:arguments
        i execvpe s:file p:arguments p:environment
        i posix_spawn p:pid s:path p:actions p:attributes p:arguments p:environment
        i posix_spawnp p:pid s:file p:actions p:attributes p:arguments p:environment
        i system s:command
        p popen s:command s:mode
        i pclose p:stream
        i fork
        i getpid
        i getppid
        i wait p:status
        i waitpid i:pid p:status x:options
        i kill i:pid i:signal
        i raise i:signal
        v exit i:status
        v _exit i:status
        v abort
        u alarm u:seconds
        u sleep u:seconds
        i usleep u:microseconds
        i nanosleep p:time p:rest
        i clock_gettime i:clock p:time
        l time p:result
        i gettimeofday p:time p:zone
        i sigaction i:signal p:action p:before
        i sigprocmask i:how p:set p:before
        p signal i:signal p:handler
        i pthread_create p:thread p:attributes p:function p:argument
        i pthread_join l:thread p:result
        i pthread_mutex_lock p:mutex
        i pthread_mutex_trylock p:mutex
        i pthread_mutex_unlock p:mutex
        i pthread_cond_wait p:condition p:mutex
        i pthread_cond_signal p:condition
        i pthread_cond_broadcast p:condition
        i isatty i:fd
        u getuid
        u geteuid
        u getgid
        u getegid
        s setlocale i:category s:locale
        s gettext s:text
        s dgettext s:domain s:text
        s dcgettext s:domain s:text i:category
        l sysconf i:name
        l random
        i rand
        v srand u:seed
        d sqrt d:x
        d sin d:x
        d cos d:x
        d tan d:x
        d exp d:x
        d log d:x
        d log10 d:x
        d pow d:x d:y
        d floor d:x
        d ceil d:x
        d fmod d:x d:y
        """
}

extension LibraryPrototype {
    private static func steps(_ register: UInt8, _ type: Character) -> (ArgumentKind, [ArgumentStep]) {
        let value: [ArgumentStep] = [.register(register)]
        return switch type {
        case "i": (.signed(4), value + [.giveValue(size: 4)])
        case "u", "o", "x": (.unsigned(4), value + [.giveValue(size: 4)])
        case "l": (.signed(8), value + [.giveValue(size: 8)])
        case "z": (.unsigned(8), value + [.giveValue(size: 8)])
        case "d": (.floating(8), value + [.giveValue(size: 8)])
        case "s": (.text, value + [.giveString])
        default: (.pointer(8), value + [.giveValue(size: 8)])
        }
    }

    /// How the arguments are found at the function's first instruction, as the System V ABI for x86-64 (3.2.3) passes them; nil:
    /// there are none.
    ///
    /// - Parameters:
    ///   - names: of those that are asked for; none, or an empty one: all are.
    ///   - address: the function's, in its module's file.
    public func arguments(named names: [String], at address: UInt64) -> ArgumentSite? {
        let integers: [UInt8] = [5, 4, 1, 2, 8, 9]  // rdi, rsi, rdx, rcx, r8, r9 by their numbers in DWARF
        var integer = 0, vector: UInt8 = 17, found: [FoundArgument] = []
        for (name, type) in arguments {
            let register = type == "d" ? vector : integers[integer]
            if type == "d" { vector += 1 } else { integer += 1 }
            let (kind, steps) = Self.steps(register, type)
            found.append(FoundArgument(name: name, kind: kind, steps: steps))
        }
        if !names.isEmpty, !names.contains("") { found.removeAll { !names.contains($0.name) } }
        return found.isEmpty ? nil : ArgumentSite(returnAddress: address, function: address, arguments: found)
    }

    /// How the result is found where the function has returned; nil: it has none.
    public func result(at address: UInt64) -> ArgumentSite? {
        if result == "v" { return nil }
        let (kind, steps) = Self.steps(result == "d" ? 17 : 0, result)
        let found = FoundArgument(name: "", kind: kind, steps: steps)
        return ArgumentSite(returnAddress: ArgumentSite.result, function: address, arguments: [found])
    }
}
