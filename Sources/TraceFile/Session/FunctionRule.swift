internal import CTraceFormat

/// What the runtime does with the calls of a function that options of `record` name.
public struct FunctionRule: Sendable, Hashable {
    /// Which calls are recorded because of the function.
    public struct Selection: OptionSet, Sendable, Hashable {
        public let rawValue: UInt32
        public init(rawValue: UInt32) { self.rawValue = rawValue }

        /// The function's calls, and what they call, are recorded; calls of other functions are not.
        public static let only = Selection(rawValue: FATHOM_SAYS_ONLY)
        /// Neither the function's calls nor what they call is recorded.
        public static let without = Selection(rawValue: FATHOM_SAYS_WITHOUT)
        /// The function's calls are not recorded, but what they call is.
        public static let hidden = Selection(rawValue: FATHOM_SAYS_HIDDEN)
        /// The function's calls are recorded, with the calls that lead to them.
        public static let hit = Selection(rawValue: FATHOM_SAYS_HIT)
    }

    /// What happens when a call of the function begins.
    public struct Trigger: Sendable, Hashable {
        public struct Actions: OptionSet, Sendable, Hashable {
            public let rawValue: UInt32
            public init(rawValue: UInt32) { self.rawValue = rawValue }

            /// Recording starts or stops, in all threads.
            public static let start = Actions(rawValue: FATHOM_TRIGGER_START)
            public static let stop = Actions(rawValue: FATHOM_TRIGGER_STOP)
            /// The recorder saves what was recorded so far.
            public static let save = Actions(rawValue: FATHOM_TRIGGER_SAVE)
            /// A mark of the function's name is recorded.
            public static let mark = Actions(rawValue: FATHOM_TRIGGER_MARK)
            /// ``Trigger/levels`` or ``Trigger/minCost`` holds for what the call calls.
            public static let depth = Actions(rawValue: FATHOM_TRIGGER_DEPTH)
            public static let minCost = Actions(rawValue: FATHOM_TRIGGER_MIN_COST)
            /// The call leaves a record, with those that lead to it, however short they are.
            public static let keep = Actions(rawValue: FATHOM_TRIGGER_KEEP)
        }

        public var actions: Actions = []
        /// Levels below the call that are recorded.
        public var levels: UInt32 = 0
        /// In ns: shorter calls below it leave no record.
        public var minCost: UInt64 = 0

        public init() {}

        /// Adds another trigger, whose limits hold in place of those that this one has.
        public mutating func add(_ other: Trigger) {
            actions.formUnion(other.actions)
            if other.actions.contains(.depth) { levels = other.levels }
            if other.actions.contains(.minCost) { minCost = other.minCost }
        }
    }

    public var selection: Selection = []
    public var trigger = Trigger()
    /// Whether the arguments of their calls are recorded.
    public var recordsArguments = false
    /// Whether what they return is recorded, which takes sleds.
    public var recordsResults = false
    /// Where only first calls are recorded: the function's first byte, which a trap takes the place of.
    public var entryByte: UInt8?

    /// Of all functions: whether some without hooks get detours.
    public var hasDetour = false

    public init() {}

    /// Whether nothing is done with them that is not done with all calls.
    public var isEmpty: Bool {
        selection.isEmpty && trigger.actions.isEmpty && !recordsArguments && !recordsResults && entryByte == nil
    }
}
