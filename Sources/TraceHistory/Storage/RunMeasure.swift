/// A number of a whole run that is kept of it beside its calls.
public enum RunMeasure: Hashable, Sendable {
    /// CPU time of the program and those that it started, in ns: what the machine's other programs take is not in it.
    case processorTime
    /// The instructions that these executed, without the kernel's.
    case instructions
    /// Blocks that were allocated, where that was recorded.
    case allocations
    /// How long a phase of the start took, in ns.
    case phase(String)
    /// How long an initializer took, in ns: by its module's file name and its function.
    case initializer(String)

    /// What histories call it, together with its ``name``.
    enum Kind: Int64 {
        case processorTime = 1
        case instructions, allocations, phase, initializer
    }

    var kind: Kind {
        switch self {
        case .processorTime: .processorTime
        case .instructions: .instructions
        case .allocations: .allocations
        case .phase: .phase
        case .initializer: .initializer
        }
    }

    var name: String {
        switch self {
        case .processorTime, .instructions, .allocations: ""
        case .phase(let name), .initializer(let name): name
        }
    }

    init(_ kind: Kind, _ name: String) {
        switch kind {
        case .processorTime: self = .processorTime
        case .instructions: self = .instructions
        case .allocations: self = .allocations
        case .phase: self = .phase(name)
        case .initializer: self = .initializer(name)
        }
    }

    private static let processorTitle = "cpu time", instructionsTitle = "instructions",
        allocationsTitle = "allocations",
        phaseTitle = "phase ", initializerTitle = "initializer "

    /// As it is shown and asked for.
    public var title: String {
        switch self {
        case .processorTime: RunMeasure.processorTitle
        case .instructions: RunMeasure.instructionsTitle
        case .allocations: RunMeasure.allocationsTitle
        case .phase(let name): RunMeasure.phaseTitle + name
        case .initializer(let name): RunMeasure.initializerTitle + name
        }
    }

    /// Reads a title; nil when it is none.
    init?(title: String) {
        func rest(behind word: String) -> String? {
            title.hasPrefix(word) && title.count > word.count ? String(title.dropFirst(word.count)) : nil
        }
        switch title {
        case RunMeasure.processorTitle: self = .processorTime
        case RunMeasure.instructionsTitle: self = .instructions
        case RunMeasure.allocationsTitle: self = .allocations
        default:
            if let name = rest(behind: RunMeasure.phaseTitle) {
                self = .phase(name)
            } else if let name = rest(behind: RunMeasure.initializerTitle) {
                self = .initializer(name)
            } else {
                return nil
            }
        }
    }

    /// Whether it is a time, in ns.
    public var isTime: Bool { self != .instructions && self != .allocations }

    /// Whether only starts that were recorded have it.
    public var isOfStart: Bool { [.phase, .initializer].contains(kind) }

    /// The one of `all` that is meant: an initializer may also be called by its function alone.
    ///
    /// - Throws: ``HistoryQuestionError`` when there is none, or when there are several.
    func found(among all: [RunMeasure]) throws(HistoryQuestionError) -> RunMeasure {
        if all.contains(self) { return self }
        let kin = Set(all.filter { $0.kind == kind })
        if kind == .initializer {
            let meant = kin.filter { $0.name.hasSuffix(" \(name)") }
            if meant.count > 1 { throw .severalFunctions(title, meant.map(\.title).sorted()) }
            if let one = meant.first { return one }
        }
        throw .noMeasure(self, among: kin.map(\.title).sorted())
    }
}
