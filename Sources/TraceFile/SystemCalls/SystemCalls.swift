internal import CTraceFormat
internal import TraceSystem

/// What the system calls of Linux are named, take and return.
///
/// The log has each call's number and its arguments as the kernel got them. Readers say what these mean, by this table, so a later
/// version may know more of the same recording.
public enum SystemCalls {
    /// The name of the scope with that id, if it is a system call; nil if it is none.
    ///
    /// - Complexity: O(1) after the table is read.
    public static func name(ofScope id: UInt32) -> String? {
        guard id >= FATHOM_SYSTEM_CALL_IDS else { return nil }
        let number = id - FATHOM_SYSTEM_CALL_IDS
        if number == UInt32(FATHOM_SYSTEM_CALL_UNKNOWN) { return "sys_?" }
        return "sys_" + (table[number]?.name ?? String(number))
    }

    /// The call of that number; nil if it is not known, as one of a later kernel.
    package static func prototype(_ number: UInt32) -> Prototype? { table[number] }

    /// The names of all.
    package static let names = Set(table.values.map(\.name))

    package struct Prototype: Sendable {
        package var name: String
        var result: Character
        package var arguments: [(name: String, type: Character)]

        /// The places of the arguments that are texts.
        package var texts: [Int] { arguments.indices.filter { arguments[$0].type == "s" } }
    }

    /// An argument as it is recorded: of an `int`, the kernel looks at the low half alone.
    static func recorded(_ value: UInt64, _ type: Character) -> UInt64 {
        switch type {
        case "i", "S", "W", "D": UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: value)))
        case "u", "o", "x", "O", "A": UInt64(UInt32(truncatingIfNeeded: value))
        default: value
        }
    }

    /// The layouts of all arguments and results, by their ids.
    package static let layouts: [UInt32: ArgumentLayout] = {
        var layouts: [UInt32: ArgumentLayout] = [:]
        let error = ArgumentLayout.Value(
            name: RecordedArguments.error, kind: .enumeration(4, isSigned: true, cases: ErrorName.all))
        for (number, call) in table {
            layouts[FATHOM_SYSTEM_CALL_IDS + number] = ArgumentLayout(
                call.arguments.map { ArgumentLayout.Value(name: $0.name, kind: kind($0.type)) })
            layouts[FATHOM_SYSTEM_CALL_RESULTS + number] = ArgumentLayout([
                ArgumentLayout.Value(name: "", kind: kind(call.result)), error,
            ])
        }
        return layouts
    }()

    private static func kind(_ type: Character) -> ArgumentLayout.Kind {
        switch type {
        case "i", "l": .signed(8)
        case "p": .pointer(8)
        case "o": .number(8, radix: 8)
        case "x": .number(8, radix: 16)
        case "s": .text
        case "O": .enumeration(8, isSigned: false, cases: openFlags)
        case "P": .enumeration(8, isSigned: false, cases: protections)
        case "M": .enumeration(8, isSigned: false, cases: mapFlags)
        case "A": .enumeration(8, isSigned: false, cases: lookupFlags)
        case "S": .enumeration(8, isSigned: true, cases: signals)
        case "W": .enumeration(8, isSigned: true, cases: origins)
        case "D": .enumeration(8, isSigned: true, cases: [-100: "AT_FDCWD"])
        default: .unsigned(8)
        }
    }

    // As the kernel's include/uapi has them, for x86-64.
    private static let openFlags: [Int64: String] = [
        0: "O_RDONLY", 1: "O_WRONLY", 2: "O_RDWR", 0o100: "O_CREAT", 0o200: "O_EXCL", 0o400: "O_NOCTTY",
        0o1000: "O_TRUNC",
        0o2000: "O_APPEND", 0o4000: "O_NONBLOCK", 0o10000: "O_DSYNC", 0o20000: "O_ASYNC", 0o4000000: "__O_SYNC",
        0o20000000: "__O_TMPFILE", 0o40000: "O_DIRECT", 0o100000: "O_LARGEFILE",
        0o200000: "O_DIRECTORY", 0o400000: "O_NOFOLLOW", 0o1000000: "O_NOATIME", 0o2000000: "O_CLOEXEC",
        0o10000000: "O_PATH",
    ]
    private static let protections: [Int64: String] = [0: "PROT_NONE", 1: "PROT_READ", 2: "PROT_WRITE", 4: "PROT_EXEC"]
    private static let mapFlags: [Int64: String] = [
        1: "MAP_SHARED", 2: "MAP_PRIVATE", 3: "MAP_SHARED_VALIDATE", 0x10: "MAP_FIXED", 0x20: "MAP_ANONYMOUS",
        0x40: "MAP_32BIT",
        0x100: "MAP_GROWSDOWN",
        0x800: "MAP_DENYWRITE", 0x1000: "MAP_EXECUTABLE", 0x2000: "MAP_LOCKED", 0x4000: "MAP_NORESERVE",
        0x8000: "MAP_POPULATE",
        0x10000: "MAP_NONBLOCK", 0x20000: "MAP_STACK", 0x40000: "MAP_HUGETLB", 0x80000: "MAP_SYNC",
        0x100000: "MAP_FIXED_NOREPLACE",
    ]
    private static let lookupFlags: [Int64: String] = [
        0x100: "AT_SYMLINK_NOFOLLOW", 0x200: "AT_REMOVEDIR", 0x400: "AT_SYMLINK_FOLLOW", 0x800: "AT_NO_AUTOMOUNT",
        0x1000: "AT_EMPTY_PATH",
    ]
    private static let origins: [Int64: String] = [
        0: "SEEK_SET", 1: "SEEK_CUR", 2: "SEEK_END", 3: "SEEK_DATA", 4: "SEEK_HOLE",
    ]
    private static let signals: [Int64: String] = {
        let names = """
            HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM \
            PROF WINCH IO PWR SYS
            """
        return Dictionary(
            uniqueKeysWithValues: names.split(separator: " ").enumerated().map { (Int64($0 + 1), "SIG\($1)") })
    }()
}
