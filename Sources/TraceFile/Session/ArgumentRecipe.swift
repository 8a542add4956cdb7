internal import CTraceFormat

/// How the arguments of a function are found where it calls the enter hook, and what they are.
public struct ArgumentRecipe: Sendable {
    /// Where the call of the hook returns to, in the module's file.
    public var returnAddress: UInt64
    /// What the hook reports, in the module's file.
    public var function: UInt64
    public var steps = ArgumentSteps()
    public var layout: ArgumentLayout

    public init(returnAddress: UInt64, function: UInt64, layout: ArgumentLayout) {
        self.returnAddress = returnAddress
        self.function = function
        self.layout = layout
    }

    /// The most values of a call.
    public static let countLimit = Int(FATHOM_ARGUMENT_COUNT_LIMIT)
}

/// The steps that find values, as traced processes take them (CTraceFunctions.h).
public struct ArgumentSteps: Sendable, Hashable {
    var bytes: [UInt8] = []

    public init() {}

    private mutating func append(_ step: UInt32, _ operand: some FixedWidthInteger) {
        bytes.append(UInt8(step))
        withUnsafeBytes(of: operand.littleEndian) { bytes += $0 }
    }

    public mutating func register(_ number: UInt8) { append(FATHOM_STEP_REGISTER, number) }
    public mutating func error() { bytes.append(UInt8(FATHOM_STEP_ERROR)) }
    public mutating func constant(_ value: UInt64) { append(FATHOM_STEP_CONSTANT, value) }
    public mutating func address(_ value: UInt64) { append(FATHOM_STEP_ADDRESS, value) }
    public mutating func add(_ value: Int64) { append(FATHOM_STEP_ADD, value) }
    public mutating func load(_ size: UInt8) { append(FATHOM_STEP_LOAD, size) }
    public mutating func bits(low: UInt8, count: UInt8, isSigned: Bool) {
        append(FATHOM_STEP_BITS, low)
        bytes += [count, isSigned ? 1 : 0]
    }
    public mutating func plus() { bytes.append(UInt8(FATHOM_STEP_PLUS)) }
    public mutating func minus() { bytes.append(UInt8(FATHOM_STEP_MINUS)) }
    public mutating func and() { bytes.append(UInt8(FATHOM_STEP_AND)) }
    public mutating func or() { bytes.append(UInt8(FATHOM_STEP_OR)) }
    public mutating func shiftLeft() { bytes.append(UInt8(FATHOM_STEP_SHL)) }
    public mutating func shiftRight() { bytes.append(UInt8(FATHOM_STEP_SHR)) }
    public mutating func times() { bytes.append(UInt8(FATHOM_STEP_MUL)) }
    public mutating func xor() { bytes.append(UInt8(FATHOM_STEP_XOR)) }
    public mutating func shiftRightSigned() { bytes.append(UInt8(FATHOM_STEP_SHRA)) }
    public mutating func giveValue(_ size: UInt8) { append(FATHOM_GIVE_VALUE, size) }
    public mutating func giveMemory(_ size: UInt8) { append(FATHOM_GIVE_MEMORY, size) }
    public mutating func giveString() { bytes.append(UInt8(FATHOM_GIVE_STRING)) }
    public mutating func giveText() { bytes.append(UInt8(FATHOM_GIVE_TEXT)) }
    public mutating func giveSwift() { bytes.append(UInt8(FATHOM_GIVE_SWIFT)) }
    public mutating func giveCharacters(_ size: UInt16) { append(FATHOM_GIVE_CHARACTERS, size) }
    public mutating func giveWide(_ size: UInt8) { append(FATHOM_GIVE_WIDE, size) }
    public mutating func end() { bytes.append(UInt8(FATHOM_STEPS_END)) }
}
