internal import ArgumentParser
internal import Glibc
internal import TraceFile
internal import TraceText

/// The process that is meant: a number that is no session's name.
func processNumber(_ target: String) -> Int32? {
    Session.exists(at: target) || Session.exists(at: target + ".fathom") ? nil : Int32(target)
}

/// The session that a running program is recorded into: one that is named, that of a process, or the newest one here.
func runningSession(_ target: String?) throws -> Session {
    guard let target else { return try openSession(newestSession()) }
    guard let pid = processNumber(target), pid > 0 else {
        return try openSession(target)
    }
    guard kill(pid, 0) == 0 || errno != ESRCH else {
        throw Diagnostics.fail("there is no process \(pid), and no session of that name", .failed)
    }
    guard let directory = SessionOfProcess.directory(pid) else {
        throw Diagnostics.fail(
            "process \(pid) is not being recorded, or is somebody else's: fathom record --attach \(pid) records it from now on",
            .failed)
    }
    return try openSession(directory)
}
