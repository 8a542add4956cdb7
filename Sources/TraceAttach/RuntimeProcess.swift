internal import CThreadStop
internal import Glibc
internal import TraceSymbols
internal import TraceWatch

/// A process that has the runtime in it.
struct RuntimeProcess {
    let pid: Int32
    let memory: ProcessMemory
    let places: CodePlaces
    let stacks: NativeStacks
    let standstills: Standstills
    let map: LinkMap
    let runtime: LoadedModule
    let words: AttachWords
    let sleds: [SledModule]
    /// Where the runtime's code is, and what leads there from open sleds.
    private let code: [Range<UInt64>]
    private let returnPlaces: Range<UInt64>

    /// Nil while the loader changes its list of modules, and when the runtime is not there.
    init?(
        _ pid: Int32, _ debug: UInt64, _ memory: ProcessMemory, _ places: CodePlaces, _ stacks: NativeStacks,
        _ sleds: [SledModule], _ standstills: Standstills
    ) {
        guard let map = LinkMap(debug, memory), let runtime = Attachment.runtime(in: map),
            let words = AttachWords(runtime, memory)
        else { return nil }
        self.pid = pid
        self.memory = memory
        self.places = places
        self.stacks = stacks
        self.standstills = standstills
        self.map = map
        self.runtime = runtime
        self.words = words
        self.sleds = sleds
        returnPlaces = AttachWords.places(runtime, memory)
        let mappings = Mappings(of: pid), path = mappings.region(at: runtime.dynamic)?.path
        code =
            mappings.regions.filter { $0.isExecutable && $0.path == path }.map(\.range)
            + sleds.map { $0.stubs(words.stubsSize) }
    }

    /// Whether functions without hooks lead to the runtime, or did.
    var hasDetours: Bool {
        runtime.addresses(of: "fathom_has_detours", memory).first.flatMap { memory.load($0, as: UInt32.self) } ?? 0 != 0
    }

    private func isCode(_ address: UInt64) -> Bool { code.contains { $0.contains(address) } }

    private func isReturn(_ address: UInt64) -> Bool { isCode(address) && !returnPlaces.contains(address) }

    /// Whether a thread runs the runtime's code, or will return to it.
    func isInside(_ thread: HeldThread) -> Bool {
        if isCode(thread.stopped.program_counter) { return true }
        let (frames, isWhole) = stacks.frames(of: thread.tid, thread.registers, most: 4096)
        if frames.contains(where: { isReturn($0.address) }) { return true }
        if isWhole { return false }
        // Look for such addresses in the rest of the stack. This may find words that earlier calls have left there, and
        // then says yes without reason.
        let last = stacks.stackPointers.last.flatMap { $0 > 0 ? $0 : nil } ?? thread.stopped.stack_pointer
        return memory.words(from: last & ~7, most: 1 << 17).contains(where: isReturn)
    }

    /// Makes a thread call a function of the runtime that needs no lock but the runtime's own, while the others run.
    ///
    /// - Returns: Whether it was called. It is not while all threads are in the runtime, or about to get signals.
    func call(_ name: String) -> Bool {
        guard let function = runtime.addresses(of: name, memory).first else { return false }
        for tid in TaskFacts.threads(of: pid) {
            guard let thread = try? HeldThread(stopping: tid, of: pid, standstills) else { continue }
            defer { thread.letGo(standstills) }
            guard thread.isFree, !isInside(thread), let call = try? RemoteCall(thread, of: pid, places, memory) else {
                continue
            }
            defer { call.giveBack() }
            return (try? call.call(function)) != nil
        }
        return false
    }
}
