internal import CTraceFormat
internal import TraceText

/// A module of a process: an executable or shared library, while it is mapped.
public struct Module: Sendable, Equatable {
    public var path: String
    public var buildID: [UInt8]
    /// Address in memory minus address in the file.
    public var bias: UInt64
    /// Addresses in memory of its loaded segments: `low..<high`.
    public var low: UInt64
    public var high: UInt64
    /// When the runtime found it, in ticks.
    public var seenTicks: UInt64
    /// When it was unloaded, in ticks; `UInt64.max` while it is mapped.
    public var unloadTicks: UInt64
    /// Whether options named functions, and the process did not know those of this module.
    public var isUnselected = false
    /// Its functions with sleds, and how many of these were opened; nil when it has none.
    public var sleds: SledCounts?
    /// Its functions with detours; nil when none were asked for.
    public var detours: DetourCounts?

    public init(
        path: String, buildID: [UInt8], bias: UInt64, low: UInt64, high: UInt64, seenTicks: UInt64,
        unloadTicks: UInt64 = .max
    ) {
        self.path = path
        self.buildID = buildID
        self.bias = bias
        self.low = low
        self.high = high
        self.seenTicks = seenTicks
        self.unloadTicks = unloadTicks
    }
}

extension Module {
    /// The module that an item of metadata tells of, or nil when it is malformed.
    package init?(item: UnsafeRawBufferPointer) {
        let size = MemoryLayout<fathom_module_item>.size
        guard item.count >= size else { return nil }
        let raw = item.loadUnaligned(as: fathom_module_item.self)
        guard Int(raw.build_id_size) + Int(raw.path_size) <= item.count - size, raw.low <= raw.high else { return nil }
        let path = item[(size + Int(raw.build_id_size))...].prefix(Int(raw.path_size))
        self.init(
            path: String(raw: path), buildID: Array(item[size...].prefix(Int(raw.build_id_size))),
            bias: raw.bias, low: raw.low, high: raw.high, seenTicks: raw.seen_ticks)
    }
}
