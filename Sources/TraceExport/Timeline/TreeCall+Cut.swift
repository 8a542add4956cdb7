internal import TraceAnalysis

extension TreeCall {
    /// ns since the session's start.
    var end: UInt64 { start &+ total }

    /// The part of the call in `window`, or nil if there is none. A call without length lies where it begins.
    func cut(to window: Range<UInt64>) -> TreeCall? {
        if start >= window.lowerBound, end <= window.upperBound, start < window.upperBound { return self }
        guard start < window.upperBound, start >= window.lowerBound || end > window.lowerBound else { return nil }
        var part = self
        part.start = max(start, window.lowerBound)
        part.total = min(end, window.upperBound) - part.start
        // How the whole is split says nothing of a part.
        part.offCPU = nil
        return part
    }

    /// How the call ended or came to be, for viewers; nil for the ordinary case.
    var mark: StaticString? {
        if isInherited { return "inherited" }
        return switch state {
        case .complete: nil
        case .open: "open"
        case .unwound: "unwound"
        }
    }
}
