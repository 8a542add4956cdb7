internal import TraceWatch

/// The slots through which a process's modules call hooks, and those functions that the runtime has to hear of, as they are
/// and as they lead to the runtime.
struct PointedSlots {
    struct Slot: Equatable {
        var address: UInt64
        /// What it held, and what it is to hold.
        var before: UInt64
        var after: UInt64
        /// Whether it was made to lead to the runtime. Then the runtime may have it lead there by a stub of its own (`--libcalls`).
        var isPointed = false
    }

    private(set) var slots: [Slot] = []
    /// The runtime's.
    private let code: [Range<UInt64>]
    /// The modules that call hooks, by where their dynamic sections lie.
    private(set) var hooked: Set<UInt64> = []

    /// The compilers' hooks, and what Fathom's own hooks in libraries and Swift products jump to.
    static let hooks: Set<String> = [
        "__cyg_profile_func_enter", "__cyg_profile_func_exit", "fathom_function_enter", "fathom_function_leave",
        "fathom_swift_enter", "fathom_swift_exit",
    ]

    /// What ends calls without their hooks, moves to another stack, changes the list of modules, ends the program or
    /// confines it. Functions that start programs are left alone, because these programs have no session, and so are
    /// those that wait. So is C's `pthread_cleanup_push`, whose buffers the runtime would change for longer than it is
    /// asked for; calls that such a thread's end leaves behind end by where the next ones lie.
    static let others: Set<String> = [
        "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "_Unwind_SetIP", "setcontext", "swapcontext", "dlopen",
        "dlmopen", "dlsym", "dlvsym", "dlclose", "dl_iterate_phdr", "_exit", "_Exit", "execve", "execv", "execvpe",
        "execvp", "fexecve", "execveat", "execl", "execlp", "execle", "prctl", "syscall", "vfork",
    ]

    /// - Parameters:
    ///   - runtime: the runtime's module.
    ///   - known: slots that lead to the runtime already, by address.
    init(_ map: LinkMap, to runtime: LoadedModule, known: [UInt64: Slot] = [:], _ memory: ProcessMemory, _ pid: Int32) {
        let mappings = Mappings(of: pid)
        let path = mappings.region(at: runtime.dynamic)?.path
        code = mappings.regions.filter { $0.isExecutable && $0.path == path }.map(\.range)
        var definitions: [String: (old: [UInt64], new: UInt64)] = [:]
        for name in Self.hooks.union(Self.others) {
            guard let new = runtime.addresses(of: name, memory).first else { continue }
            guard let definition = map.definition(of: name, except: runtime.dynamic, memory) else {
                // A weak reference that nobody defines is 0.
                if Self.hooks.contains(name) { definitions[name] = ([0], new) }
                continue
            }
            // The program's own function stands before the C library's, and the runtime behind it.
            if definition.module.isSystem { definitions[name] = (definition.addresses, new) }
        }
        let names = Set(definitions.keys)
        for module in map.modules where module.dynamic != runtime.dynamic {
            let own = mappings.region(at: module.dynamic)?.path
            for slot in module.slots(for: names, memory) {
                let (old, new) = definitions[slot.name]!
                guard let value: UInt64 = memory.load(slot.address) else { continue }
                let isHook = Self.hooks.contains(slot.name)
                if value == new || isCode(value) {
                    // Whoever has pointed it here may be gone. What a reference finds is as good as what was there.
                    slots.append(known[slot.address] ?? Slot(address: slot.address, before: old[0], after: new))
                } else {
                    // A slot that is not bound yet leads into the module's own code, which binds it.
                    let isUnbound =
                        slot.isLazy && old[0] != 0
                        && mappings.region(at: value).map { $0.isExecutable && $0.path == own } ?? false
                    guard old.contains(value) || isUnbound else { continue }
                    slots.append(Slot(address: slot.address, before: value, after: new))
                }
                if isHook { hooked.insert(module.dynamic) }
            }
        }
    }

    private func isCode(_ address: UInt64) -> Bool { code.contains { $0.contains(address) } }

    private func leads(_ slot: Slot, _ value: UInt64) -> Bool {
        value == slot.after || slot.isPointed && isCode(value)
    }

    /// The same slots, as they are now: some may have been bound meanwhile.
    func asTheyAre(_ memory: ProcessMemory) -> PointedSlots {
        var now = self
        for index in now.slots.indices {
            // The runtime's stubs are what it keeps there, and takes away itself.
            if let value: UInt64 = memory.load(slots[index].address), value != slots[index].after, !isCode(value) {
                now.slots[index].before = value
            }
        }
        return now
    }

    var byAddress: [UInt64: Slot] { Dictionary(slots.map { ($0.address, $0) }) { first, _ in first } }

    /// Makes them lead to the runtime, or back. A slot that holds something else by now is left as it is. No thread of the
    /// process runs meanwhile.
    mutating func point(toRuntime: Bool, _ memory: ProcessMemory) {
        for index in slots.indices {
            let slot = slots[index]
            guard let value: UInt64 = memory.load(slot.address) else { continue }
            if toRuntime ? !leads(slot, value) : value == slot.after {
                memory.store(slot.address, toRuntime ? slot.after : slot.before)
            }
            slots[index].isPointed = toRuntime
        }
    }

    /// Whether any of them leads to the runtime.
    func leadSomewhere(_ memory: ProcessMemory) -> Bool {
        slots.contains { slot in memory.load(slot.address).map(isCode) ?? false }
    }

    /// Whether all of them do, as far as they were made to.
    func allLead(_ memory: ProcessMemory) -> Bool {
        slots.allSatisfy { slot in memory.load(slot.address).map { leads(slot, $0) } ?? false }
    }
}
