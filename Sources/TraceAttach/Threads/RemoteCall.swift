internal import CThreadStop
internal import Glibc
internal import TraceFile
internal import TraceWatch

/// Makes a held thread call functions of its process, and leaves it as it was.
///
/// The thread does so by itself: should this process be killed meanwhile, the function's call ends as any other does, and
/// the thread goes on where it was.
final class RemoteCall {
    enum Failure: Error {
        /// The process has ended.
        case ended
        /// The process has confined itself meanwhile.
        case confined
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
    /// Where what a call needs ends, on the thread's own stack or on one for it.
    private let end: UInt64
    /// A stack that was made for it.
    private var mapped: UInt64?
    /// Where the next call's frame ends; nil: at ``room``.
    private var lowerEnd: UInt64?
    /// Whether a call has been made, and the thread has not been given back what it had.
    private var isAway = false
    /// The signal that tells of a call's end. The program ignores it.
    private let signal: Int32

    private static let stackSize: UInt64 = 512 << 10
    /// What is left of a thread's own stack has to suffice for the loader. That of the first thread grows.
    private static let leastRoom: UInt64 = 128 << 10, leastFirstRoom: UInt64 = 48 << 10
    private static let redZone: UInt64 = 128
    /// What `raise` takes of the stack is less.
    private static let raiseRoom: UInt64 = 4 << 10
    private static let mmapNumber: UInt64 = 9, munmapNumber: UInt64 = 11

    /// Keeps what the thread has. Call ``giveBack()`` afterwards.
    init(_ thread: HeldThread, of pid: Int32, _ places: CodePlaces, _ memory: ProcessMemory) throws(Failure) {
        self.thread = thread
        self.memory = memory
        self.places = places
        if Confinement(of: thread.tid, in: pid) == .own { throw .confined }
        guard let signal = Self.ignoredSignal(of: thread.tid, in: pid) else {
            throw .impossible("it handles SIGURG, SIGWINCH and SIGCHLD, of which fathom needs one")
        }
        self.signal = signal
        guard fathom_keep(thread.tid, &kept) == 0 else { throw .refused() }
        if let end = Self.ownStack(of: thread, in: pid) {
            self.end = end
            return
        }
        do throws(Failure) {
            let stack = try Self.system(
                thread.tid, &kept, places, Self.mmapNumber,
                [0, Self.stackSize, UInt64(PROT_READ | PROT_WRITE), UInt64(MAP_PRIVATE | MAP_ANONYMOUS), .max, 0])
            guard stack < UInt64(bitPattern: -4096) else {
                let reason = String(cString: strerror(Int32(0 &- Int64(bitPattern: stack))))
                throw .impossible("it has no room for a stack: " + reason)
            }
            end = stack + Self.stackSize
            mapped = stack
        } catch {
            fathom_forget(&kept)
            throw error
        }
    }

    /// A signal to which nothing happens, and that nobody has sent.
    private static func ignoredSignal(of tid: Int32, in pid: Int32) -> Int32? {
        var taken: UInt64 = 0
        for line in SystemFile.lines(of: "/proc/\(pid)/task/\(tid)/status") {
            let fields = line.split(separator: ":")
            guard fields.count == 2, ["SigPnd", "ShdPnd", "SigCgt"].contains(fields[0]) else { continue }
            taken |= UInt64(fields[1].drop { $0 == "\t" || $0 == " " }, radix: 16) ?? .max
        }
        return [SIGURG, SIGWINCH, SIGCHLD].first { taken & 1 << UInt64($0 - 1) == 0 }
    }

    /// The end of what is free of the thread's own stack. A stack that the program has made for a coroutine or for signal
    /// handlers may be small.
    private static func ownStack(of thread: HeldThread, in pid: Int32) -> UInt64? {
        let pointer = thread.stopped.stack_pointer, mappings = Mappings(of: pid)
        let least = thread.tid == pid ? leastFirstRoom : leastRoom
        guard let region = mappings.region(at: pointer), pointer - region.range.lowerBound > least else { return nil }
        // The C library keeps what a thread has for itself at the top of its stack.
        let storage = thread.stopped.thread_pointer
        let isOwn =
            thread.tid == pid ? region.path == "[stack]" : storage > pointer && region.range.contains(storage)
        return isOwn ? (pointer - redZone) & ~63 : nil
    }

    private static func system(
        _ tid: Int32, _ kept: inout fathom_kept, _ places: CodePlaces, _ number: UInt64, _ arguments: [UInt64]
    ) throws(Failure) -> UInt64 {
        var result: UInt64 = 0
        let arguments = arguments + [UInt64](repeating: 0, count: 6 - arguments.count)
        switch fathom_call_system(tid, &kept, places.systemCall, arguments, number, &result) {
        case FATHOM_CALL_DONE: return result
        case FATHOM_CALL_ENDED: throw .ended
        default: throw .refused()
        }
    }

    /// Memory for arguments.
    var room: UInt64 { end - UInt64(Self.roomSize) - 64 }
    static let roomSize = 8 << 10
    private var resultPlace: UInt64 { end - 64 }

    func call(_ function: UInt64, _ arguments: UInt64...) throws(Failure) -> UInt64 {
        var bytes = [CChar](repeating: 0, count: Int(FATHOM_FRAME_LIMIT)), size = 0
        let frame = fathom_frame(&kept, lowerEnd ?? room & ~63, &bytes, &size)
        guard frame != 0 else { throw .impossible("its vector registers are unknown ones") }
        // Below the frame, what the function, and what it returns to, return to.
        let store = places.store
        var words =
            [store.address] + [UInt64](repeating: 0, count: store.pops)
            + [places.argument, UInt64(signal), places.raise, places.restore]
        // The stack is aligned to 16 bytes behind a function's return address.
        if words.count % 2 == 0 { words.insert(store.back, at: 0) }
        let top = frame - UInt64(words.count * 8)
        let isWritten =
            words.withUnsafeBytes { memory.write($0, at: top) }
            && bytes.withUnsafeBytes { memory.write(UnsafeRawBufferPointer(rebasing: $0[..<size]), at: frame) }
            && memory.store(resultPlace, Self.noResult)
        guard isWritten else { throw .ended }
        // Until the next call begins, the thread needs this one's frame to go back. So that call's frame lies elsewhere.
        lowerEnd = lowerEnd == nil ? (top - Self.raiseRoom) & ~63 : nil
        let all = arguments + [UInt64](repeating: 0, count: 6 - arguments.count)
        let place = resultPlace &- UInt64(bitPattern: Int64(store.displacement))
        guard fathom_call_begin(thread.tid, &kept, function, top, all, place, signal) == 0 else { throw .refused() }
        isAway = true
        while true {
            guard fathom_call_run(thread.tid, signal) == FATHOM_CALL_DONE,
                let result = memory.load(resultPlace, as: UInt64.self)
            else { throw .ended }
            // Somebody else may have sent the signal.
            if result != Self.noResult { return result }
        }
    }

    private static let noResult: UInt64 = 0x6661_7468_6f6d_0001

    /// Lets the thread go on elsewhere when it has what it had. It was in no system call.
    func move(to counter: UInt64) { fathom_kept_move(&kept, counter) }

    /// Gives the thread back what it had. It stays held.
    func giveBack() {
        defer { fathom_forget(&kept) }
        if isAway { guard fathom_call_return(thread.tid, &kept) == FATHOM_CALL_DONE else { return } }
        if let mapped { _ = try? Self.system(thread.tid, &kept, places, Self.munmapNumber, [mapped, Self.stackSize]) }
    }
}

/// Instructions in a process's code that a call needs.
struct CodePlaces {
    /// Writes rax to where rbx points, takes words from the stack, and returns.
    struct Store {
        let address: UInt64
        let displacement: Int8
        let pops: Int
        /// Only the return.
        let back: UInt64
    }

    /// A system call.
    let systemCall: UInt64
    /// The end of a signal handler: `mov $15, %rax; syscall`.
    let restore: UInt64
    let store: Store
    /// Takes rdi from the stack, and returns.
    let argument: UInt64
    /// The C library's function.
    let raise: UInt64

    /// Looks through the C library. All bytes will do that form the instruction, whatever instruction they are a part
    /// of.
    init?(_ pid: Int32, _ map: LinkMap, _ memory: ProcessMemory) {
        var systemCall: UInt64?, restore: UInt64?, store: Store?, argument: UInt64?
        let raise = map.modules.lazy.filter(\.isSystem).compactMap { $0.addresses(of: "raise", memory).last }.first
        for region in Mappings(of: pid).regions where region.isExecutable && region.path.contains("/libc") {
            let size = Int(min(region.range.upperBound - region.range.lowerBound, 4 << 20)),
                low = region.range.lowerBound
            guard let bytes: [UInt8] = memory.array(low, count: size) else { continue }
            bytes.withUnsafeBytes { bytes in
                systemCall = systemCall ?? Self.first([0x0f, 0x05], in: bytes).map { low + UInt64($0) }
                restore = restore ?? Self.first(Self.end, in: bytes).map { low + UInt64($0) }
                argument = argument ?? Self.first([0x5f, 0xc3], in: bytes).map { low + UInt64($0) }
                var at = 0
                while store == nil, let next = Self.first([0x48, 0x89], in: bytes, from: at), next + 64 < bytes.count {
                    store = Self.store(bytes, next, low)
                    at = next + 1
                }
            }
        }
        guard let systemCall, let restore, let store, let argument, let raise else { return nil }
        self.systemCall = systemCall
        self.restore = restore
        self.store = store
        self.argument = argument
        self.raise = raise
    }

    private static func first(_ wanted: [UInt8], in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
        guard let base = bytes.baseAddress else { return nil }
        var at = start
        while at + wanted.count <= bytes.count, let found = memchr(base + at, Int32(wanted[0]), bytes.count - at) {
            at = UnsafeRawPointer(found) - base
            if at + wanted.count <= bytes.count, memcmp(found, wanted, wanted.count) == 0 { return at }
            at += 1
        }
        return nil
    }

    private static let end: [UInt8] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05]

    /// `mov %rax, (%rbx)`, perhaps with a displacement; then pops and additions to the stack pointer; then `ret`.
    private static func store(_ bytes: UnsafeRawBufferPointer, _ start: Int, _ low: UInt64) -> Store? {
        guard bytes[start + 1] == 0x89, bytes[start + 2] == 0x03 || bytes[start + 2] == 0x43 else { return nil }
        let isFar = bytes[start + 2] == 0x43
        var at = start + (isFar ? 4 : 3), pops = 0
        for _ in 0..<8 {
            switch bytes[at] {
            case 0xc3:
                return Store(
                    address: low + UInt64(start), displacement: isFar ? Int8(bitPattern: bytes[start + 3]) : 0,
                    pops: pops, back: low + UInt64(at))
            case 0x58...0x5b, 0x5d...0x5f:
                pops += 1
                at += 1
            case 0x41 where (0x58...0x5f).contains(bytes[at + 1]):
                pops += 1
                at += 2
            case 0x48
            where bytes[at + 1] == 0x83 && bytes[at + 2] == 0xc4 && bytes[at + 3] < 128 && bytes[at + 3] % 8 == 0:
                pops += Int(bytes[at + 3]) / 8
                at += 4
            default: return nil
            }
        }
        return nil
    }
}
