internal import Glibc

/// What the system refused.
public struct SystemError: Error, CustomStringConvertible {
    /// What it was asked for: a path, or a call.
    public let subject: String
    public let errno: Int32

    public init(_ subject: String, _ errno: Int32) {
        self.subject = subject
        self.errno = errno
    }

    /// What the system says.
    public var reason: String { String(cString: strerror(errno)) }

    public var description: String { "\(subject): \(reason)" }
}
