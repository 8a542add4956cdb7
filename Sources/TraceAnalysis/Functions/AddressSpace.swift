public import TraceFile

/// Tells which function an address of one process stands for at a given moment.
///
/// A module owns its addresses until it is unloaded. So the owner at time t is the first module there that is unloaded
/// after t.
public final class AddressSpace {
    private struct Mapping {
        var low: UInt64
        var high: UInt64
        var bias: UInt64
        /// In ticks; `.max` while the module is mapped.
        var unload: UInt64
        var module: Int32
    }

    /// Open addressing with linear probing; `id` is one more than the function's, 0 marks an empty entry.
    private struct Entry {
        var address: UInt64
        var epoch: UInt32
        var id: UInt32
    }

    public let functions: FunctionTable
    private let mappings: [Mapping]
    private let names: [UInt32: GivenName]
    /// Unload times, ascending.
    private let unloads: [UInt64]
    /// Swift need not check that accesses exclude each other, which costs each call of a tree: none lasts while another begins.
    @exclusivity(unchecked) private var entries: UnsafeMutableBufferPointer<Entry>
    private var count = 0

    public init(_ modules: [Module], names: [UInt32: GivenName] = [:], functions: FunctionTable) {
        self.functions = functions
        self.names = names
        mappings = modules.map { module in
            Mapping(
                low: module.low, high: module.high, bias: module.bias,
                unload: module.unloadTicks,
                module: functions.intern(ModuleIdentity(path: module.path, buildID: module.buildID)))
        }
        unloads = Set(mappings.map(\.unload)).filter { $0 != .max }.sorted()
        entries = .allocate(capacity: 1024)
        entries.initialize(repeating: Entry(address: 0, epoch: 0, id: 0))
    }

    deinit { entries.deallocate() }

    /// The function at `address` at `ticks`.
    ///
    /// - Complexity: O(1) for an address seen before, O(modules) for a new one.
    public func function(at address: UInt64, ticks: UInt64) -> UInt32 {
        function(at: address, epoch: addressesChange ? epoch(at: ticks) : 0)
    }

    /// The function at `address` in the stretch of time numbered `epoch`.
    func function(at address: UInt64, epoch: UInt32) -> UInt32 {
        var index = slot(of: address, epoch)
        while entries[index].id != 0 {
            if entries[index].address == address, entries[index].epoch == epoch { return entries[index].id - 1 }
            index = (index + 1) & (entries.count - 1)
        }
        return add(address, epoch)
    }

    /// The function of a key.
    ///
    /// - Parameter sites: where calls were made, if keys tell that in place of their epochs.
    func function(of key: FunctionKeys.Key, sites: FunctionKeys?) -> UInt32 {
        guard let site = sites?[key.epoch].pointee else { return function(at: key.address, epoch: key.epoch) }
        let id = function(at: key.address, epoch: site.epoch)
        guard site.address > 0xffff,
            let owner = owner(of: site.address &- 1, ticks: site.epoch == 0 ? 0 : unloads[Int(site.epoch) - 1]),
            let place = functions.location(module: owner.module, address: site.address &- 1 &- owner.bias)
        else { return id }
        return functions.intern(id, calledAt: place)
    }

    /// What the program called name `id`.
    public func name(_ id: UInt32) -> String {
        id == GivenName.unkept ? "(more names)" : names[id]?.text ?? SystemCalls.name(ofScope: id) ?? "(name lost)"
    }

    /// File and line of `address` at `ticks`.
    public func location(at address: UInt64, ticks: UInt64) -> (file: String, line: Int)? {
        guard let owner = owner(of: address, ticks: ticks) else { return nil }
        return functions.location(module: owner.module, address: address &- owner.bias)
    }

    /// What part of a function that may suspend the code at `address` is.
    package func part(at address: UInt64, ticks: UInt64) -> AsyncPart {
        guard let owner = owner(of: address, ticks: ticks) else { return AsyncPart() }
        return functions.part(module: owner.module, address: address &- owner.bias)
    }

    /// Whether an address may mean different functions at different times.
    var addressesChange: Bool { !unloads.isEmpty }

    /// Whether there is a stretch of that number.
    func hasEpoch(_ epoch: UInt32) -> Bool { Int(epoch) <= unloads.count }

    /// The number of the stretch between unloads that `ticks` is in. Within one stretch, every address means one thing.
    func epoch(at ticks: UInt64) -> UInt32 {
        UInt32(unloads.partitioningIndex { $0 > ticks })
    }

    private func slot(of address: UInt64, _ epoch: UInt32) -> Int {
        // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4).
        let hash = (address &+ UInt64(epoch)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: hash >> 32) & (entries.count - 1)
    }

    private func owner(of address: UInt64, ticks: UInt64) -> Mapping? {
        mappings.first { $0.low <= address && address < $0.high && $0.unload > ticks }
    }

    @inline(never)
    private func add(_ address: UInt64, _ epoch: UInt32) -> UInt32 {
        let begin = epoch == 0 ? 0 : unloads[Int(epoch) - 1]
        let function =
            if address >> 48 == GivenName.scopeBase >> 48 {
                functions.scope(name(UInt32(truncatingIfNeeded: address)))
            } else if let owner = owner(of: address, ticks: begin) {
                FunctionTable.Function(module: owner.module, address: address &- owner.bias)
            } else {
                FunctionTable.Function(module: -1, address: address)
            }
        let id = functions.intern(function)
        if count * 2 >= entries.count { grow() }
        insert(Entry(address: address, epoch: epoch, id: id + 1))
        count += 1
        return id
    }

    private func insert(_ entry: Entry) {
        var index = slot(of: entry.address, entry.epoch)
        while entries[index].id != 0 { index = (index + 1) & (entries.count - 1) }
        entries[index] = entry
    }

    private func grow() {
        let old = entries
        entries = .allocate(capacity: old.count * 2)
        entries.initialize(repeating: Entry(address: 0, epoch: 0, id: 0))
        for entry in old where entry.id != 0 { insert(entry) }
        old.deallocate()
    }
}
