public import CTraceFormat

/// Memory that was allocated or freed, as it was recorded.
@frozen
public struct RecordedBlock: BitwiseCopyable, Sendable {
    public enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// A block was allocated.
        case allocated
        case freed
        /// Pages were mapped.
        case mapped
        case unmapped
    }

    public var kind: Kind
    public var address: UInt64
    /// In bytes, as the program asked for it; 0 of a block that is freed.
    public var size: UInt64

    public static var recordSize: Int { MemoryLayout<fathom_block>.size }

    public init(kind: Kind = .freed, address: UInt64 = 0, size: UInt64 = 0) {
        self.kind = kind
        self.address = address
        self.size = size
    }

    /// Whether the program has more memory by it.
    public var isNew: Bool { kind == .allocated || kind == .mapped }

    /// What the record `number`, one of those of memory, tells.
    @usableFromInline
    init(_ number: UInt32, _ block: fathom_block) {
        let kind: Kind =
            switch number {
            case FATHOM_ALLOCATED: .allocated
            case FATHOM_MAPPED: .mapped
            case FATHOM_UNMAPPED: .unmapped
            default: .freed
            }
        self.init(kind: kind, address: block.address, size: block.size)
    }

    /// The number of its record.
    var number: UInt32 {
        switch kind {
        case .allocated: FATHOM_ALLOCATED
        case .freed: FATHOM_FREED
        case .mapped: FATHOM_MAPPED
        case .unmapped: FATHOM_UNMAPPED
        }
    }
}
