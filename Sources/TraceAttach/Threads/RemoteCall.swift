internal import CThreadStop
internal import Glibc
internal import TraceWatch

/// Makes a held thread call functions of its process, and leaves it as it was.
final class RemoteCall {
    enum Failure: Error {
        /// The process has ended.
        case ended
        /// There is no place in its code that a call could return to, or the kernel refuses something.
        case impossible(String)

        /// What `errno` says.
        fileprivate static func refused() -> Failure {
            errno == ESRCH ? .ended : .impossible(String(cString: strerror(errno)))
        }
    }

    private let thread: HeldThread
    private let memory: ProcessMemory
    private let places: CodePlaces
    private var kept = fathom_kept()
    private let stack: UInt64
    private static let stackSize: UInt64 = 512 << 10
    private static let mmapNumber: UInt64 = 9, munmapNumber: UInt64 = 11

    /// Keeps what the thread has, and gives it a stack of its own. Call ``end()`` afterwards.
    init(_ thread: HeldThread, _ places: CodePlaces, _ memory: ProcessMemory) throws(Failure) {
        self.thread = thread
        self.memory = memory
        self.places = places
        var kept = fathom_kept()
        guard fathom_keep(thread.tid, &kept) == 0 else {
            throw .refused()
        }
        let mapped: UInt64
        do throws(Failure) {
            mapped = try Self.run(
                thread.tid, &kept, at: places.systemCall, stack: 0,
                [0, Self.stackSize, UInt64(PROT_READ | PROT_WRITE), UInt64(MAP_PRIVATE | MAP_ANONYMOUS), .max, 0],
                number: Self.mmapNumber, request: UInt32(PTRACE_SINGLESTEP.rawValue), until: places.systemCall + 2)
            guard mapped < UInt64(bitPattern: -4096) else {
                throw .impossible(
                    "it has no room for a stack: " + String(cString: strerror(Int32(0 &- Int64(bitPattern: mapped)))))
            }
        } catch {
            _ = fathom_give_back(thread.tid, &kept)
            throw error
        }
        self.kept = kept
        stack = mapped
    }

    private static func run(
        _ tid: Int32, _ kept: inout fathom_kept, at address: UInt64, stack: UInt64, _ arguments: [UInt64],
        number: UInt64, request: UInt32, until expected: UInt64
    ) throws(Failure) -> UInt64 {
        let arguments = arguments + [UInt64](repeating: 0, count: 6 - arguments.count)
        guard fathom_call_begin(tid, &kept, address, stack, arguments, number) == 0 else {
            throw .refused()
        }
        var result: UInt64 = 0, request = Int32(request)
        while true {
            switch fathom_call_wait(tid, request, expected, 1000, &result) {
            case FATHOM_CALL_DONE: return result
            // Wait on, because a call that is within the loader or the allocator cannot be undone.
            case FATHOM_CALL_LATE: request = 0
            case FATHOM_CALL_ENDED: throw .ended
            default: throw .refused()
            }
        }
    }

    /// Memory for arguments, at the stack's lower end.
    var room: UInt64 { stack }
    static let roomSize = 256 << 10

    func call(_ function: UInt64, _ arguments: UInt64...) throws(Failure) -> UInt64 {
        // The return address lies on top of the stack. Before it was put there, the stack was aligned to 16 bytes.
        let top = stack + Self.stackSize - 64 - 8
        guard memory.store(top, places.trap) else { throw .ended }
        return try Self.run(
            thread.tid, &kept, at: function, stack: top, arguments, number: 0,
            request: UInt32(PTRACE_CONT.rawValue), until: places.trap + 1)
    }

    /// A system call.
    func system(_ number: UInt64, _ arguments: UInt64...) throws(Failure) -> UInt64 {
        try Self.run(
            thread.tid, &kept, at: places.systemCall, stack: 0, arguments, number: number,
            request: UInt32(PTRACE_SINGLESTEP.rawValue), until: places.systemCall + 2)
    }

    func map(_ size: Int) throws(Failure) -> UInt64 {
        let result = try system(
            Self.mmapNumber, 0, UInt64(size), UInt64(PROT_READ | PROT_WRITE), UInt64(MAP_PRIVATE | MAP_ANONYMOUS), .max,
            0)
        guard result < UInt64(bitPattern: -4096) else { throw .impossible("it has no room for more memory") }
        return result
    }

    func unmap(_ address: UInt64, _ size: Int) {
        _ = try? system(Self.munmapNumber, address, UInt64(size))
    }

    /// Gives the thread back what it had. It stays held.
    func end() {
        unmap(stack, Int(Self.stackSize))
        _ = fathom_give_back(thread.tid, &kept)
    }
}

/// Instructions in a process's code that a call needs.
struct CodePlaces {
    /// A system call.
    let systemCall: UInt64
    /// A trap, for a call to return to.
    let trap: UInt64

    /// Looks through the C library. All bytes will do that form the instruction, whatever instruction they are a part
    /// of.
    init?(_ pid: Int32, _ memory: ProcessMemory) {
        var systemCall: UInt64?, trap: UInt64?
        for region in Mappings(of: pid).regions where region.isExecutable && region.path.contains("/libc") {
            let size = Int(min(region.range.upperBound - region.range.lowerBound, 4 << 20))
            guard let bytes: [UInt8] = memory.array(region.range.lowerBound, count: size) else { continue }
            for index in 0..<max(size - 1, 0) {
                if systemCall == nil, bytes[index] == 0x0f, bytes[index + 1] == 0x05 {
                    systemCall = region.range.lowerBound + UInt64(index)
                }
                if trap == nil, bytes[index] == 0xcc { trap = region.range.lowerBound + UInt64(index) }
                if systemCall != nil, trap != nil { break }
            }
        }
        guard let systemCall, let trap else { return nil }
        self.systemCall = systemCall
        self.trap = trap
    }
}
