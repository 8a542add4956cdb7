internal import Glibc
public import TraceFile
internal import TraceText

/// Says what became of the detours of a module's functions, as `record` and `info` do.
public enum DetoursText {
    /// `1,200 functions of lua have detours; 3 closed again to keep to the budget`
    public static func line(_ detours: DetourCounts, of path: String) -> String {
        let name = PathText.name(path).visible
        if let failure = detours.failure {
            return "warning: the functions of \(name) have no detours, because \(reason(failure))"
        }
        var line = "\(CountText.counted(UInt64(detours.open + detours.busy), "function")) of \(name) "
        line += detours.open + detours.busy == 1 ? "has a detour" : "have detours"
        let lost = detours.asked - detours.open - detours.busy
        if detours.busy > 0 {
            line += "; \(CountText.grouped(UInt64(detours.busy))) closed again to keep to the budget"
        }
        if lost > 0 { line += "; \(CountText.grouped(UInt64(lost))) are not in memory as they are in the file" }
        return line
    }

    private static func reason(_ failure: DetourCounts.Failure) -> String {
        switch failure {
        case .noRoom: "there was no free memory near them"
        case .late: "its code may have been running when it was found"
        case .signed: "the processor signs return addresses in bits that belong to addresses here"
        case .error(let error): "its code cannot be changed: \(String(cString: strerror(error)))"
        }
    }
}
