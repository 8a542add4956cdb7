internal import TraceSymbols
internal import TraceWatch

/// Tells whether a thread may call the dynamic loader at the point where it is. The loader takes its own locks and the
/// allocator's, so the thread must hold none of these.
///
/// A thread that is in the C library may hold any of them, unless it is known to wait there. So may one that is in an
/// allocator of the program's own, or in the runtime.
struct SafePoint {
    private let stacks: NativeStacks
    private let modules: [NativeModule]
    private let allocator: AllocatorCode
    private let returnPlaces: Range<UInt64>

    init(_ stacks: NativeStacks, _ map: LinkMap, _ memory: ProcessMemory) {
        self.stacks = stacks
        modules = stacks.modules.sorted { $0.low < $1.low }
        allocator = AllocatorCode(map, modules, memory)
        returnPlaces = Attachment.runtime(in: map).map { AttachWords.places($0, memory) } ?? 0..<0
    }

    /// Functions of the C library in which a thread holds none of its locks while it waits, and short ones that take none.
    private static let quiet: Set<String> = [
        "accept", "accept4", "clock_nanosleep", "connect", "epoll_pwait", "epoll_wait", "futex", "getpid", "ioctl",
        "nanosleep", "pause", "poll", "ppoll", "pselect", "pthread_barrier_wait", "pthread_clockjoin_np",
        "pthread_cond_clockwait", "pthread_cond_timedwait", "pthread_cond_wait", "pthread_join", "pthread_mutex_lock",
        "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_timedjoin_np", "pread64", "pread", "read", "readv",
        "recv", "recvfrom", "recvmmsg", "recvmsg", "sched_yield", "select", "sem_clockwait", "sem_timedwait",
        "sem_wait",
        "send", "sendmmsg", "sendmsg", "sendto", "sigsuspend", "sigtimedwait", "sigwait", "sigwaitinfo", "sleep",
        "usleep", "wait", "wait3", "wait4", "waitid", "waitpid", "write", "writev", "clock_gettime", "gettimeofday",
        "kill", "raise",
    ]
    private static let allocators = [
        "malloc", "calloc", "realloc", "free", "memalign", "posix_memalign", "aligned_alloc", "reallocarray", "cfree",
        "valloc", "pvalloc", "malloc_trim",
    ]

    /// - Parameters:
    ///   - frames: innermost first.
    ///   - isWhole: whether they lead up to where the thread began.
    func holds(_ frames: [NativeFrame], isWhole: Bool) -> Bool {
        guard !frames.isEmpty else { return false }
        var name: String?
        // What the C library was called for: of its functions that have called one another, the outermost.
        var call: (name: String?, isInnermost: Bool)?
        for (index, frame) in frames.enumerated() {
            guard let module = module(at: frame.lookup) else {
                // Code of the kernel, or code that the program has made while it runs.
                name = nil
                if let call, !Self.isQuiet(call) { return false }
                call = nil
                continue
            }
            // Here, a library call of an earlier recording returns.
            if returnPlaces.contains(frame.lookup) { continue }
            let file = module.path.split(separator: "/").last ?? ""
            if Self.isUnsafe(file) || allocator.contains(frame.lookup) { return false }
            let symbol = stacks.symbol(at: frame)
            name = symbol.flatMap { $0.isKnown ? $0.name : nil }
            if file.hasPrefix("libc.so") || file.hasPrefix("libc-") || file.hasPrefix("libpthread")
                || file.hasPrefix("libdl")
            {
                call = (name, call?.isInnermost ?? (index == 0))
                continue
            }
            if let call, !Self.isQuiet(call) { return false }
            call = nil
            if let name, Self.allocators.contains(name) || name.hasPrefix("je_") { return false }
        }
        // The outermost frames, of the C library, are where the thread or the program began. But when there are no other
        // frames, the thread or the program is just beginning or ending.
        if let call, frames.allSatisfy({ Self.isOfLibrary(module(at: $0.lookup)) }) { return Self.isQuiet(call) }
        return isWhole
    }

    /// Whether words that may be return addresses of calls say that the thread may be where it holds such locks: what is left
    /// of a stack that cannot be followed to its end.
    func mayHold(_ words: [UInt64]) -> Bool {
        words.contains { word in
            guard !returnPlaces.contains(word), let module = module(at: word) else { return false }
            // The address of the loader's own end lies on the stack of each first thread.
            let file = module.path.split(separator: "/").last ?? ""
            return (Self.isUnsafe(file) && !file.hasPrefix("ld-")) || allocator.contains(word)
        }
    }

    private static func isUnsafe(_ file: Substring) -> Bool {
        ["ld-", "libjemalloc", "libtcmalloc", "libmimalloc", "libfathom"].contains { file.hasPrefix($0) }
    }

    private static func isOfLibrary(_ module: NativeModule?) -> Bool {
        guard let file = module?.path.split(separator: "/").last else { return false }
        return file.hasPrefix("libc.so") || file.hasPrefix("libc-") || file.hasPrefix("libpthread")
    }

    /// - Parameter call: a call of the C library, and whether nothing but the library is inside it.
    private static func isQuiet(_ call: (name: String?, isInnermost: Bool)) -> Bool {
        guard let name = call.name else { return false }
        let plain = name.split(separator: "@").first.map(String.init) ?? name
        // This function has called main, or is about to end the program.
        if plain.hasPrefix("__libc_start_main") { return !call.isInnermost }
        return quiet.contains(plain.hasPrefix("__") ? String(plain.dropFirst(2)) : plain)
    }

    private func module(at address: UInt64) -> NativeModule? {
        var low = 0, high = modules.count
        while low < high {
            let middle = (low + high) / 2
            if modules[middle].high <= address { low = middle + 1 } else { high = middle }
        }
        return low < modules.count && modules[low].low <= address ? modules[low] : nil
    }
}
