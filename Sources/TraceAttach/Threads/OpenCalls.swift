internal import TraceSymbols
internal import TraceWatch

/// Finds which calls of hooked functions are open on a thread's stack, and whose exit hooks are therefore still to come.
final class OpenCalls {
    /// What the runtime has to know of a call.
    struct Call: Equatable {
        var function: UInt64
        /// Where it returns to.
        var site: UInt64
        /// The end of its frame, less what a call takes there.
        var place: UInt64
    }

    private let stacks: NativeStacks
    private let memory: ProcessMemory
    /// The modules with hooks, and their functions.
    private var modules: [(module: NativeModule, functions: HookedFunctions)] = []
    private static let exits: Set<String> = ["__cyg_profile_func_exit", "__tsan_func_exit", "fathom_function_leave"]

    /// - Parameter isHooked: whether a module calls hooks.
    init(_ stacks: NativeStacks, _ memory: ProcessMemory, where isHooked: (NativeModule) -> Bool) {
        self.stacks = stacks
        self.memory = memory
        modules = stacks.modules.filter(isHooked).compactMap { module in
            (try? HookedFunctions(path: module.path)).map { (module, $0) }
        }
    }

    /// Whether an open sled is at an address (`session/sleds.c` in the runtime).
    private func isOpen(_ sled: UInt64) -> Bool { memory.load(sled, as: UInt16.self) == 0x2e2e }

    /// The open calls, outermost first.
    ///
    /// - Parameters:
    ///   - frames: innermost first.
    ///   - stackPointers: of the frames; 0 where they are not known.
    func calls(_ frames: [NativeFrame], _ stackPointers: [UInt64]) -> [Call] {
        var found: [Call] = []
        for index in frames.indices.dropLast() {
            let frame = frames[index], end = stackPointers[index + 1]
            guard end > 16,
                let (module, functions) = modules.first(where: {
                    $0.module.low <= frame.lookup && frame.lookup < $0.module.high
                }),
                let place = functions.place(of: frame.lookup &- module.bias), functions.functions[place].isHooked
            else { continue }
            let function = functions.functions[place], address = frame.address &- module.bias
            // Leave out a call whose enter hook is still to come, or whose exit hook has begun.
            guard functions.hasEntered(place, before: address) else { continue }
            let inner = index > 0 ? frames[index - 1] : nil
            if let inner, inner.isExact, functions.isOnWayToEntry(inner.address &- module.bias) { continue }
            // The ends of functions whose sleds are closed are not told.
            if let sled = functions.entrySled(of: place), !isOpen(sled &+ module.bias) { continue }
            if let inner, let callee = stacks.symbol(at: inner), Self.exits.contains(callee.name) { continue }
            found.append(
                Call(
                    function: function.range.lowerBound &+ module.bias, site: frames[index + 1].address,
                    place: (end &- 16) & ~7))
        }
        // The calls of a signal handler on a stack of its own may lie anywhere. Keep those that lie below their
        // callers, on the stack on which the thread began.
        var outermostFirst: [Call] = []
        for call in found.reversed() where outermostFirst.last.map({ call.place < $0.place }) ?? true {
            outermostFirst.append(call)
        }
        return outermostFirst
    }
}
