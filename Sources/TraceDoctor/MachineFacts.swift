internal import Glibc
public import TraceBuild

/// What of a machine matters to recording and building.
public struct MachineFacts: Sendable {
    /// Room in a file system, in bytes.
    public struct Space: Sendable {
        public var size: UInt64
        /// What this user may still write.
        public var free: UInt64

        public init(size: UInt64, free: UInt64) {
            self.size = size
            self.free = free
        }
    }

    /// A program that the user wants to record, or a library.
    public struct Program: Sendable {
        public var path: String
        /// Why it cannot be recorded, with the remedy; nil when it can.
        public var refusal: String?
        public var functionCount: Int
        public var hookedCount: Int
        /// Whether it is a shared library, which others load.
        public var isLibrary = false
        /// Whether some function's file and line are known.
        public var hasLines: Bool
        /// What `record --any` can do with a program or library without hooks; nil: it has hooks, or its functions are not known.
        public var detours: Detours?

        /// How many functions can be recorded although they have no hooks.
        public struct Detours: Sendable {
            public var fit: Int
            /// The names of the others, by the reason in words.
            public var refused: [(reason: String, names: [String])]
            /// Why none of them can; nil: some can.
            public var refusal: String?

            public init(fit: Int, refused: [(reason: String, names: [String])], refusal: String?) {
                self.fit = fit
                self.refused = refused
                self.refusal = refusal
            }
        }

        public init(path: String, refusal: String?, functionCount: Int, hookedCount: Int, hasLines: Bool) {
            self.path = path
            self.refusal = refusal
            self.functionCount = functionCount
            self.hookedCount = hookedCount
            self.hasLines = hasLines
        }
    }

    /// Parts of the installation that are not where they belong.
    public var missingParts: [String] = []
    /// Whether the processor's counter can be the clock.
    public var counterIsTrusted = false
    /// What the kernel keeps time by; nil when it does not say.
    public var clockSource: String?
    /// `kernel.perf_event_paranoid`; nil when the kernel has no perf.
    public var perfEventParanoid: Int?
    /// `kernel.yama.ptrace_scope`; nil where nothing restricts ptrace.
    public var ptraceScope: Int?
    /// /dev/shm; nil when it is not there.
    public var sharedMemory: Space?
    /// The working directory's file system.
    public var disk: Space?
    public var compilers: [InstalledCompiler] = []
    /// The value of DEBUGINFOD_URLS, if it is set.
    public var debuginfod: String?
    public var program: Program?

    public init() {}

    /// Reads what the kernel says.
    ///
    /// - Parameter root: stands in place of the root directory, for tests.
    public init(root: String, workingDirectory: String = ".") {
        func line(_ path: String) -> String? {
            guard let file = fopen(root + path, "re") else { return nil }
            defer { fclose(file) }
            var buffer = [CChar](repeating: 0, count: 256)
            guard fgets(&buffer, Int32(buffer.count), file) != nil else { return nil }
            let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return text.hasSuffix("\n") ? String(text.dropLast()) : text
        }
        clockSource = line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
        perfEventParanoid = line("/proc/sys/kernel/perf_event_paranoid").flatMap { Int($0) }
        ptraceScope = line("/proc/sys/kernel/yama/ptrace_scope").flatMap { Int($0) }
        sharedMemory = MachineFacts.space(of: root + "/dev/shm")
        disk = MachineFacts.space(of: workingDirectory)
    }

    private static func space(of path: String) -> Space? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let unit = UInt64(status.f_frsize)
        return Space(size: UInt64(status.f_blocks) &* unit, free: UInt64(status.f_bavail) &* unit)
    }
}
