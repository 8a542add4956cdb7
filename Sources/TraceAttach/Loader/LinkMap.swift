internal import Glibc
internal import TraceFile
internal import TraceWatch

/// The modules that a process's dynamic loader has loaded, in its order.
struct LinkMap {
    let modules: [LoadedModule]
    /// What tells this list from the next: where its entries lie.
    let entries: [UInt64]

    private struct Entry {
        var bias: UInt64
        var name: UInt64
        var dynamic: UInt64
        var next: UInt64
        var previous: UInt64
    }

    private struct Header {
        var type: UInt32, flags: UInt32
        var offset: UInt64, address: UInt64, physical: UInt64
        var fileSize: UInt64, memorySize: UInt64, alignment: UInt64
    }

    /// Where the loader tells debuggers of its list, the struct r_debug; nil when the process has no loader, or it has not
    /// come that far.
    static func place(in pid: Int32, _ memory: ProcessMemory) -> UInt64? {
        let descriptor = open("/proc/\(pid)/auxv", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var words = [UInt64](repeating: 0, count: 128)
        let size = words.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        var headers: UInt64 = 0, count: UInt64 = 0
        for pair in stride(from: 0, to: max(size, 0) / 8 - 1, by: 2) {
            if words[pair] == UInt64(AT_PHDR) { headers = words[pair + 1] }
            if words[pair] == UInt64(AT_PHNUM) { count = words[pair + 1] }
        }
        guard headers != 0,
            let all = memory.array(headers, count: Int(clamping: min(count, 4096)), of: Header.self)
        else { return nil }
        let bias = all.first { $0.type == UInt32(PT_PHDR) }.map { headers &- $0.address } ?? 0
        guard let dynamic = all.first(where: { $0.type == UInt32(PT_DYNAMIC) }) else { return nil }
        var at = bias &+ dynamic.address
        while let entry: (Int64, UInt64) = memory.load(at), entry.0 != Int64(DT_NULL) {
            if entry.0 == Int64(DT_DEBUG) { return entry.1 == 0 ? nil : entry.1 }
            at &+= 16
        }
        return nil
    }

    /// Where the list's entries lie. Nil while the loader changes the list.
    ///
    /// - Complexity: O(modules).
    static func entries(_ debug: UInt64, _ memory: ProcessMemory) -> [UInt64]? {
        // The state comes behind the address of a function that the loader calls when it has changed the list.
        guard let first: UInt64 = memory.load(debug &+ 8), let state: Int32 = memory.load(debug &+ 24), state == 0
        else {
            return nil
        }
        var entries: [UInt64] = [], next = first
        while next != 0, entries.count < 1 << 16 {
            entries.append(next)
            guard let entry: Entry = memory.load(next) else { return nil }
            next = entry.next
        }
        return entries
    }

    init?(_ debug: UInt64, _ memory: ProcessMemory) {
        guard let entries = Self.entries(debug, memory) else { return nil }
        self.entries = entries
        modules = entries.compactMap { address in
            guard let entry: Entry = memory.load(address), entry.dynamic != 0 else { return nil }
            return LoadedModule(
                memory, name: memory.text(entry.name) ?? "", bias: entry.bias, dynamic: entry.dynamic)
        }
    }

    /// The addresses of what a reference to the symbol finds, and the module that defines it: the first one that does.
    func definition(
        of name: String, except runtime: UInt64?, _ memory: ProcessMemory
    ) -> (module: LoadedModule, addresses: [UInt64])? {
        for module in modules where module.dynamic != runtime {
            let addresses = module.addresses(of: name, memory)
            if !addresses.isEmpty { return (module, addresses) }
        }
        return nil
    }
}
