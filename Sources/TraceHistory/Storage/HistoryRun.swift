/// One run of a history: what was run, where, and what people said of it.
public struct HistoryRun: Sendable, Equatable {
    /// What the runs of one history are told apart by; 0 before the run is in one.
    public var id: Int64 = 0
    /// Tells the run from all others, in whatever history it is.
    public var key = ""
    /// When it began, in ns since 1970; 0 when that is not known.
    public var time: UInt64 = 0
    /// The program's name, and the command as it was given.
    public var program = ""
    public var command = ""
    /// The session that was added.
    public var session = ""
    public var host = ""
    public var cpu = ""
    public var kernel = ""
    /// The version of Fathom that recorded it.
    public var recorder = ""
    public var mode = Mode.calls
    public var calls: UInt64 = 0
    /// The sum of the roots' totals, in ns.
    public var total: UInt64 = 0
    /// Calls known to be missing.
    public var lost: UInt64 = 0
    public var functions = 0
    public var paths = 0
    /// By name, in order.
    public var labels: [(name: String, value: String)] = []

    /// What was kept of the calls, and so what can be told of them.
    public enum Mode: String, Sendable, CaseIterable {
        case calls = "trace"
        case paths = "profile"
        case counts
        case samples

        public var hasTimes: Bool { self != .counts }
        /// Whether calls are counted, each of them.
        public var isExact: Bool { self != .samples }
    }

    public init() {}

    public func label(_ name: String) -> String? { labels.first { $0.name == name }?.value }

    /// The machine, or the class of machines, that the run was made on: its label `machine`, or else its host.
    public var machine: String { label(HistoryRun.machineLabel) ?? host }

    public static let machineLabel = "machine"

    /// What the program was given: the command without its first word, which is where the program lies.
    public var arguments: Substring { HistoryRun.arguments(of: command) }

    static func arguments(of command: String) -> Substring {
        var place = command.startIndex, quote = false, escapes = false
        while place < command.endIndex {
            switch command[place] {
            case " " where !quote: return command[place...].drop { $0 == " " }
            case "\\" where !quote || escapes: place = command.index(after: place)
            case "'":
                escapes = !quote && place > command.startIndex && command[command.index(before: place)] == "$"
                quote.toggle()
            default: break
            }
            if place < command.endIndex { place = command.index(after: place) }
        }
        return ""
    }

    public static func == (left: HistoryRun, right: HistoryRun) -> Bool {
        (left.id, left.key) == (right.id, right.key)
    }
}
