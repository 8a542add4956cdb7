package import CTraceFormat

/// A system call that a thread has made, as the kernel tells of it.
package struct SystemCall: Sendable {
    package var number: UInt32
    /// In ns of CLOCK_MONOTONIC.
    package var begin: UInt64
    /// In ns; nil while it goes on.
    package var end: UInt64?
    /// Behind the instruction of the program that made it.
    package var address: UInt64
    package var arguments: InlineArray<6, UInt64>
    /// What it returned: -4095 to -1 are errors.
    package var result: Int64 = 0
    /// Texts that arguments lead to, by the arguments' places; no others are known.
    package var texts: [Text] = []

    /// A text in the program's memory when the call began.
    package struct Text: Sendable {
        package var place: Int
        package var bytes: [UInt8]
        /// Whether it goes on.
        package var isCut: Bool

        package init(place: Int, bytes: [UInt8], isCut: Bool) {
            (self.place, self.bytes, self.isCut) = (place, bytes, isCut)
        }
    }

    package init(_ event: fathom_system_call_event) {
        number = UInt32(truncatingIfNeeded: event.number)
        begin = event.ns
        address = event.address
        let values = event.values
        arguments = [values.0, values.1, values.2, values.3, values.4, values.5]
    }
}
