internal import TraceWatch

/// What the runtime lets others write who may not make its process call anything (`fathom_attach_words` in
/// `CTraceRuntime/entry/attach.c`).
struct AttachWords {
    private struct Words {
        var asked: UInt64, base: UInt64, state: UInt64, isAttached: UInt64
        var mask: UInt32, mode: UInt32, off: UInt32, stubsSize: UInt32
    }

    private let words: Words

    /// Where library calls return to (`CTraceRuntime/follow/places.h`): a thread that is going to is not in the midst of the runtime.
    static func places(_ runtime: LoadedModule, _ memory: ProcessMemory) -> Range<UInt64> {
        guard let address = runtime.addresses(of: "fathom_places", memory).first,
            let (first, end): (UInt64, UInt64) = memory.load(address), first <= end
        else { return 0..<0 }
        return first..<end
    }

    /// How many bytes of each product's code lead from open sleds to the runtime.
    var stubsSize: UInt64 { UInt64(words.stubsSize) }

    init?(_ runtime: LoadedModule, _ memory: ProcessMemory) {
        guard let address = runtime.addresses(of: "fathom_attach_words", memory).first,
            let words: Words = memory.load(address)
        else { return nil }
        self.words = words
    }

    /// Whether somebody has attached and not detached.
    func isAttached(_ memory: ProcessMemory) -> Bool { memory.load(words.isAttached, as: UInt32.self) != 0 }

    /// Makes the hooks do nothing. `forGood`: the runtime never makes a system call again.
    func turnOff(_ memory: ProcessMemory, forGood: Bool) {
        guard let asked: UInt32 = memory.load(words.asked) else { return }
        memory.store(words.base, (asked & ~words.mask) &- words.mode)
        if forGood {
            memory.store(words.state, words.off)
            memory.store(words.isAttached, UInt32(0))
        }
    }
}
