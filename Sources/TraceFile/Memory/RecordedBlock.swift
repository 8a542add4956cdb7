public import CTraceFormat

/// What happened to memory: it was allocated or freed, as it was recorded, or a page of it had to be brought.
@frozen
public struct RecordedBlock: BitwiseCopyable, Sendable {
    public enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// A block was allocated.
        case allocated
        case freed
        /// Pages were mapped.
        case mapped
        case unmapped
        /// A page was used that was in memory, but not yet in the program's, or that is new.
        case minorFault
        /// A page was used that had to be read.
        case majorFault

        /// What the records of this number tell of; nil where they tell of no memory.
        @inlinable
        init?(record number: UInt32) {
            switch number {
            case FATHOM_ALLOCATED: self = .allocated
            case FATHOM_FREED: self = .freed
            case FATHOM_MAPPED: self = .mapped
            case FATHOM_UNMAPPED: self = .unmapped
            case FATHOM_MINOR_FAULT: self = .minorFault
            case FATHOM_MAJOR_FAULT: self = .majorFault
            default: return nil
            }
        }
    }

    public var kind: Kind
    /// 0 of a page fault.
    public var address: UInt64
    /// In bytes, as the program asked for it; 0 of a block that is freed, and of a page fault.
    public var size: UInt64

    @inlinable
    public init(kind: Kind = .freed, address: UInt64 = 0, size: UInt64 = 0) {
        self.kind = kind
        self.address = address
        self.size = size
    }

    /// Whether the program has more memory by it.
    public var isNew: Bool { kind == .allocated || kind == .mapped }
    public var isFault: Bool { kind == .minorFault || kind == .majorFault }

    /// The number of its record.
    var number: UInt32 {
        switch kind {
        case .allocated: FATHOM_ALLOCATED
        case .freed: FATHOM_FREED
        case .mapped: FATHOM_MAPPED
        case .unmapped: FATHOM_UNMAPPED
        case .minorFault: FATHOM_MINOR_FAULT
        case .majorFault: FATHOM_MAJOR_FAULT
        }
    }
}
