internal import Glibc
import TestSupport

/// One line of `fathom dump --format jsonl`. Its fields are found by searching the line, without parsing it as JSON.
struct DumpLine {
    /// A field's name as it stands in the line.
    enum Field {
        case kind, process, lane, depth, time, function, address, calls, value

        fileprivate var key: StaticString {
            switch self {
            case .kind: "\"kind\":"
            case .process: "\"process\":"
            case .lane: "\"lane\":"
            case .depth: "\"depth\":"
            case .time: "\"time_ns\":"
            case .function: "\"function\":"
            case .address: "\"address\":"
            case .calls: "\"calls\":"
            case .value: "\"value\":"
            }
        }
    }

    /// NUL-terminated.
    fileprivate let start: UnsafePointer<CChar>

    /// What the record is: enter, exit, unwound, open ...
    var kind: String { text(.kind) ?? "" }

    /// A string without escapes.
    func text(_ field: Field) -> String? {
        guard let value = value(of: field), value[0] == CChar(UInt8(ascii: "\"")),
            let end = strchr(value + 1, Int32(UInt8(ascii: "\"")))
        else { return nil }
        let count = UnsafePointer(end) - value - 1
        return String(decoding: UnsafeRawBufferPointer(start: value + 1, count: count), as: UTF8.self)
    }

    /// A number.
    func number(_ field: Field) -> Int? { value(of: field).map { strtol($0, nil, 10) } }

    /// An address, written as a string: "0x1f".
    func address(_ field: Field) -> UInt64? { value(of: field).map { UInt64(strtoul($0 + 1, nil, 16)) } }

    private func value(of field: Field) -> UnsafePointer<CChar>? {
        field.key.withUTF8Buffer { key in
            key.withMemoryRebound(to: CChar.self) { key in
                strstr(start, key.baseAddress!).map { UnsafePointer($0) + key.count }
            }
        }
    }
}

/// What `fathom dump --format jsonl` says of a session.
struct Dump {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("dump") }
    /// How `fathom dump` ended.
    let output: ProcessOutput

    init(_ session: String) throws(TestSupportError) {
        directory = try TemporaryDirectory("dump")
        // The dump goes into a file, because that of a long recording is too large for a String.
        output = try run(
            "sh",
            [
                "-c", "exec \"$0\" dump \"$1\" --format jsonl > \"$2\"", Fathom.executable, session,
                directory.file("dump"),
            ])
    }

    /// Calls `body` for every line in order.
    func forEach(_ body: (DumpLine) -> Void) throws(TestSupportError) {
        var bytes = try readFile(path)
        bytes.withUnsafeMutableBytes { bytes in
            guard var line = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
            let end = line + bytes.count
            while line < end, let newline = memchr(line, 10, end - line) {
                let next = newline.assumingMemoryBound(to: CChar.self)
                next.pointee = 0
                body(DumpLine(start: line))
                line = next + 1
            }
        }
    }

    /// How often each function was entered, in all processes.
    func counts() throws(TestSupportError) -> [String: Int] {
        var counts: [String: Int] = [:]
        try forEach { line in
            if line.kind == "enter", let function = line.text(.function) { counts[function, default: 0] += 1 }
        }
        return counts
    }

    /// How many lines there are of each kind.
    func kinds() throws(TestSupportError) -> [String: Int] {
        var kinds: [String: Int] = [:]
        try forEach { kinds[$0.kind, default: 0] += 1 }
        return kinds
    }

    /// Every enter in order, with its caller as the depths say: calls on another lane have no caller on this one.
    func enters() throws(TestSupportError) -> [TrueCall] {
        var stacks: [Int: [UInt64]] = [:]
        var calls: [TrueCall] = []
        try forEach { line in
            guard line.kind == "enter" else { return }
            let depth = line.number(.depth) ?? -1
            let function = line.address(.address) ?? 0
            var stack = stacks[line.number(.lane) ?? 0, default: []]
            stack.removeSubrange(min(max(depth, 0), stack.count)...)
            let caller = depth == stack.count ? stack.last ?? 0 : .max
            stack.append(function)
            stacks[line.number(.lane) ?? 0] = stack
            calls.append(TrueCall(function: function, caller: caller, depth: depth))
        }
        return calls
    }
}

/// A call and where it stands in the tree.
struct TrueCall: Equatable, CustomStringConvertible {
    var function: UInt64
    /// Its caller's address; 0 at the root.
    var caller: UInt64
    var depth: Int

    var description: String { "\(String(function, radix: 16)) from \(String(caller, radix: 16)) at \(depth)" }
}
