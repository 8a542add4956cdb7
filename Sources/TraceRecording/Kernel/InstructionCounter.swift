internal import CTraceFormat
internal import Glibc

/// Counts the instructions of the programs that this thread starts from now on, with all their threads and children, without the
/// kernel's: a number that depends little on what else the machine does.
public struct InstructionCounter {
    private let descriptor: Int32

    /// Why they cannot be counted, as one clause; nil when they can.
    public static var refusal: String? {
        do throws(Refusal) {
            let counter = try InstructionCounter()
            close(counter.descriptor)
            return nil
        } catch {
            return error.text
        }
    }

    struct Refusal: Error {
        let text: String
    }

    init() throws(Refusal) {
        descriptor = fathom_open_instructions()
        guard descriptor < 0 else { return }
        let reason = errno
        let isMissing = [ENOENT, EOPNOTSUPP, ENODEV].contains(reason)
        throw Refusal(
            text: isMissing
                ? "this machine has no counter of instructions, as virtual ones often have not"
                : EventRefusal(reason: reason, isOfMemory: false).text())
    }

    /// What the programs have executed until now; nil where the counter was shared with others, so that it did not count all the time.
    /// It counts no more afterwards.
    func take() -> UInt64? {
        defer { close(descriptor) }
        var count: UInt64 = 0
        return fathom_read_instructions(descriptor, &count) == 0 ? count : nil
    }
}
