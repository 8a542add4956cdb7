internal import CTraceFormat

/// Encodes metadata items of one process.
public struct MetadataWriter {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public mutating func process(
        pid: UInt32, parent: UInt32 = 1, forkedFrom: UInt32? = nil, start: UInt64 = 0, path: String,
        arguments: [String] = []
    ) {
        var item = fathom_process_item()
        var command: [UInt8] = []
        for argument in arguments { command += Array(argument.utf8) + [0] }
        item.pid = pid
        item.parent_pid = parent
        item.parent_process = forkedFrom ?? FATHOM_NO_PROCESS
        item.origin = forkedFrom == nil ? FATHOM_ORIGIN_IMAGE : FATHOM_ORIGIN_FORK
        item.start_ticks = start
        item.start_ns = start
        item.path_size = UInt32(path.utf8.count)
        item.command_size = UInt32(command.count)
        add(FATHOM_ITEM_PROCESS, withUnsafeBytes(of: item) { Array($0.dropFirst(8)) } + Array(path.utf8) + command)
    }

    public mutating func module(
        _ path: String, buildID: [UInt8] = [], low: UInt64, high: UInt64, bias: UInt64, seen: UInt64 = 0
    ) {
        var item = fathom_module_item()
        item.seen_ticks = seen
        item.bias = bias
        item.low = low
        item.high = high
        item.build_id_size = UInt32(buildID.count)
        item.path_size = UInt32(path.utf8.count)
        add(FATHOM_ITEM_MODULE, withUnsafeBytes(of: item) { Array($0.dropFirst(8)) } + buildID + Array(path.utf8))
    }

    public mutating func unload(low: UInt64, at ticks: UInt64) {
        var item = fathom_unload_item()
        item.ticks = ticks
        item.low = low
        add(FATHOM_ITEM_UNLOAD, withUnsafeBytes(of: item) { Array($0.dropFirst(8)) })
    }

    /// The name of marks.
    public mutating func mark(_ id: UInt32, _ name: String) {
        var item = fathom_name_item()
        item.id = id
        item.kind = FATHOM_NAME_MARK
        item.text_size = UInt32(name.utf8.count)
        add(FATHOM_ITEM_NAME, withUnsafeBytes(of: item) { Array($0.dropFirst(8)) } + Array(name.utf8))
    }

    /// What the process wrote over its arguments.
    public mutating func title(_ text: [UInt8], at ticks: UInt64 = 0) {
        var item = fathom_title_item()
        item.ticks = ticks
        item.text_size = UInt32(text.count)
        add(FATHOM_ITEM_TITLE, withUnsafeBytes(of: item) { Array($0.dropFirst(8)) } + text)
    }

    /// The image's end; with a `status` as wait(2) gives it, as the recorder tells it.
    public mutating func end(at ticks: UInt64, status: UInt32? = nil) {
        var item = fathom_end_item()
        item.ticks = ticks
        item.how = status == nil ? FATHOM_END_EXIT : FATHOM_END_WAITED
        item.status = status ?? 0
        add(FATHOM_ITEM_END, withUnsafeBytes(of: item) { Array($0.dropFirst(8)) })
    }

    private mutating func add(_ kind: UInt32, _ body: [UInt8]) {
        let size = (8 + body.count + 7) & ~7
        bytes.append(unit: kind)
        bytes.append(unit: 0)
        bytes.append(half: UInt32(size))
        bytes.append(contentsOf: body + [UInt8](repeating: 0, count: size - 8 - body.count))
    }
}
