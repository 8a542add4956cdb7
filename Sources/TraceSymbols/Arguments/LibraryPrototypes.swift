internal import TraceSystem

/// What well-known functions of the C library take and return, for calls of libraries that have no debug information.
///
/// Each line is a function's result and name, and its arguments with their types:
///
///     i u l z    int, unsigned, long, size_t        p    a pointer
///     s          text                               d    double
///     o x        unsigned in octal or in hex, which are shown as numbers
///     v          nothing (results only)
///
/// A result in capitals is -1 or null where the function has failed, and errno says why.
///
/// An argument list that ends with `...` goes on in ways that only the others tell.
public struct LibraryPrototype: Sendable {
    var result: Character
    var setsError = false
    var arguments: [(name: String, type: Character)]

    public var argumentNames: [String] { arguments.map(\.name) }

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

    private init(result: Character, setsError: Bool, arguments: [(name: String, type: Character)]) {
        (self.result, self.setsError, self.arguments) = (result, setsError, arguments)
    }

    /// The names of those that are known.
    public static var names: [String] { Array(all.keys) }

    private static let all: [String: LibraryPrototype] = {
        var all: [String: LibraryPrototype] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            let arguments = words.dropFirst(2).compactMap { word in
                word == "..." ? nil : (name: String(word.dropFirst(2)), type: word.first!)
            }
            let result = words[0].first!
            all[String(words[1])] = LibraryPrototype(
                result: result.isUppercase ? Character(result.lowercased()) : result, setsError: result.isUppercase,
                arguments: arguments)
        }
        return all
    }()

    private static let table = """
        I open s:path x:flags ...
        I open64 s:path x:flags ...
        I openat i:dirfd s:path x:flags ...
        I openat64 i:dirfd s:path x:flags ...
        I creat s:path o:mode
        I close i:fd
        L read i:fd p:buffer z:count
        L write i:fd p:buffer z:count
        L pread i:fd p:buffer z:count l:offset
        L pread64 i:fd p:buffer z:count l:offset
        L pwrite i:fd p:buffer z:count l:offset
        L pwrite64 i:fd p:buffer z:count l:offset
        L readv i:fd p:vectors i:count
        L writev i:fd p:vectors i:count
        L lseek i:fd l:offset i:whence
        L lseek64 i:fd l:offset i:whence
        I dup i:fd
        I dup2 i:fd i:to
        I dup3 i:fd i:to x:flags
        I pipe p:ends
        I pipe2 p:ends x:flags
        I fcntl i:fd i:command ...
        I fcntl64 i:fd i:command ...
        I ioctl i:fd u:request ...
        I fsync i:fd
        I fdatasync i:fd
        I ftruncate i:fd l:length
        I ftruncate64 i:fd l:length
        I truncate s:path l:length
        I stat s:path p:status
        I stat64 s:path p:status
        I lstat s:path p:status
        I lstat64 s:path p:status
        I fstat i:fd p:status
        I fstat64 i:fd p:status
        I fstatat i:dirfd s:path p:status x:flags
        I fstatat64 i:dirfd s:path p:status x:flags
        I statx i:dirfd s:path x:flags x:mask p:status
        I access s:path x:mode
        I faccessat i:dirfd s:path x:mode x:flags
        I unlink s:path
        I unlinkat i:dirfd s:path x:flags
        I remove s:path
        I rename s:from s:to
        I renameat i:dirfd s:from i:todirfd s:to
        I link s:from s:to
        I symlink s:target s:path
        L readlink s:path p:buffer z:size
        I mkdir s:path o:mode
        I mkdirat i:dirfd s:path o:mode
        I rmdir s:path
        I chdir s:path
        I fchdir i:fd
        P getcwd p:buffer z:size
        I chmod s:path o:mode
        I fchmod i:fd o:mode
        I chown s:path u:owner u:group
        I fchown i:fd u:owner u:group
        o umask o:mask
        P opendir s:path
        P fdopendir i:fd
        p readdir p:directory
        p readdir64 p:directory
        I closedir p:directory
        P realpath s:path p:buffer
        I mkstemp p:template
        I mkostemp p:template x:flags
        I socket i:domain i:type i:protocol
        I bind i:fd p:address u:length
        I listen i:fd i:backlog
        I accept i:fd p:address p:length
        I accept4 i:fd p:address p:length x:flags
        I connect i:fd p:address u:length
        L send i:fd p:buffer z:count x:flags
        L sendto i:fd p:buffer z:count x:flags p:address u:length
        L sendmsg i:fd p:message x:flags
        L recv i:fd p:buffer z:count x:flags
        L recvfrom i:fd p:buffer z:count x:flags p:address p:length
        L recvmsg i:fd p:message x:flags
        I setsockopt i:fd i:level i:option p:value u:length
        I getsockopt i:fd i:level i:option p:value p:length
        I shutdown i:fd i:how
        i getaddrinfo s:node s:service p:hints p:result
        I poll p:descriptors l:count i:timeout
        I select i:count p:read p:write p:except p:timeout
        I epoll_create i:size
        I epoll_create1 x:flags
        I epoll_ctl i:epfd i:operation i:fd p:event
        I epoll_wait i:epfd p:events i:count i:timeout
        I eventfd u:value x:flags
        p mmap p:address z:length x:protection x:flags i:fd l:offset
        p mmap64 p:address z:length x:protection x:flags i:fd l:offset
        I munmap p:address z:length
        I mprotect p:address z:length x:protection
        I madvise p:address z:length i:advice
        p mremap p:address z:length z:to x:flags
        P malloc z:size
        P calloc z:count z:size
        P realloc p:block z:size
        P reallocarray p:block z:count z:size
        v free p:block
        P aligned_alloc z:alignment z:size
        P memalign z:alignment z:size
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
        I setenv s:name s:value i:overwrite
        I unsetenv s:name
        i putenv s:text
        P fopen s:path s:mode
        P fopen64 s:path s:mode
        P fdopen i:fd s:mode
        P freopen s:path s:mode p:stream
        I fclose p:stream
        I fflush p:stream
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
        I execve s:path p:arguments p:environment
        I execv s:path p:arguments
        I execvp s:file p:arguments
        I execvpe s:file p:arguments p:environment
        i posix_spawn p:pid s:path p:actions p:attributes p:arguments p:environment
        i posix_spawnp p:pid s:file p:actions p:attributes p:arguments p:environment
        i system s:command
        P popen s:command s:mode
        I pclose p:stream
        I fork
        i getpid
        i getppid
        I wait p:status
        I waitpid i:pid p:status x:options
        I kill i:pid i:signal
        i raise i:signal
        v exit i:status
        v _exit i:status
        v abort
        u alarm u:seconds
        u sleep u:seconds
        i usleep u:microseconds
        I nanosleep p:time p:rest
        I clock_gettime i:clock p:time
        l time p:result
        i gettimeofday p:time p:zone
        I sigaction i:signal p:action p:before
        I sigprocmask i:how p:set p:before
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

    /// How the result is found where the function has returned, and why it has failed; nil: it has none.
    public func result(at address: UInt64) -> ArgumentSite? {
        if result == "v" { return nil }
        let (kind, steps) = Self.steps(result == "d" ? 17 : 0, result)
        var found = [FoundArgument(name: "", kind: kind, steps: steps)]
        if setsError {
            let kind = ArgumentKind.enumeration(4, isSigned: true, cases: Self.errors)
            found.append(FoundArgument(name: "errno", kind: kind, steps: [.error, .giveValue(size: 4)]))
        }
        return ArgumentSite(returnAddress: ArgumentSite.result, function: address, arguments: found)
    }

    /// The numbers of errors by their names.
    private static let errors = Dictionary(
        ErrorName.all.sorted { $0.key < $1.key }.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
}
