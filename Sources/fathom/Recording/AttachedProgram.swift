internal import ArgumentParser
internal import Glibc
internal import TraceAnalysis
internal import TraceAttach
internal import TraceBuild
internal import TraceFile
internal import TraceQuery
internal import TraceRecording
internal import TraceRequest
internal import TraceSymbols
internal import TraceSystem
internal import TraceText

/// A running process, as the recorder needs it.
private final class AttachedProgram: RunningProgram {
    private let attachment: Attachment
    var pid: Int32 { attachment.pid }

    init(_ attachment: Attachment) { self.attachment = attachment }

    func begin(_ session: String) throws(RecordingError) {
        do throws(AttachError) { try attachment.attach(session: session) } catch {
            throw .cannotAttach(reason: error.description)
        }
    }

    func look() -> Bool {
        guard attachment.isAlive else { return false }
        attachment.look()
        return true
    }

    func end(children: [Int32]) -> [String] {
        let ending: String? =
            switch attachment.detach(children: children) {
            case .detached: nil
            case .ended: "process \(pid) has ended"
            case .stuck:
                "warning: a thread of process \(pid) stays in the midst of the runtime, or in the kernel; it records nothing "
                    + "any more, but memory of the recording stays mapped"
            case .confined:
                "process \(pid) has confined itself (seccomp) meanwhile; it records nothing any more, and was made to do "
                    + "nothing, so memory of the recording stays mapped"
            }
        return [ending, attachment.longestStandstill.standstill(of: pid)].compactMap(\.self)
    }
}

extension UInt64 {
    /// A number of nanoseconds, as what is said of how long threads stood still.
    fileprivate func standstill(of pid: Int32) -> String {
        let tenths = (self + 99_999) / 100_000
        return "no thread of process \(pid) stood still for longer than \(tenths / 10).\(tenths % 10) ms"
    }
}

extension Record {
    /// Says what does not go together with a program that runs already.
    func checkAttaching() throws {
        if !command.isEmpty { throw ValidationError("--attach takes a process, and no program to run") }
        if let process = attaching.attach, process <= 0 {
            throw ValidationError("the id of a process is a number from 1")
        }
        if let time = attaching.time, time.nanoseconds == 0 { throw ValidationError("--for is longer than 0") }
    }

    private func attachment(to process: Int32) throws(AttachError) -> Attachment {
        try Attachment(
            process, runtime: Installation.runtimeLibrary, needsHooks: libcalls == nil && any == nil && !syscalls)
    }

    /// Records a stretch of a running process.
    func record(_ process: Int32) throws {
        try output.map(FileName.check)
        do {
            if let armed = SessionOfProcess.directory(process), armed.hasSuffix(ArmedRecorder.suffix) {
                return try record(process, armedIn: armed)
            }
            var program = AttachedProgram(try attachment(to: process))
            var request = request(of: process)
            request.functions = try namedFunctions(of: request.executable)
            let first = request.session
            let end = attaching.time.map { SystemClock.monotonic.addingClamped($0.nanoseconds) }
            var left = attaching.time?.nanoseconds
            while left != 0 {
                let (summary, notes, next) = try AttachedRecorder(request, of: program).run(for: left) {
                    if !quiet { Diagnostics.say("recording process \(process) into \(request.session)") }
                }
                if !quiet { (notes + SummaryText(summary).lines).forEach(Diagnostics.say) }
                guard let next else { break }
                left = end.map { $0 - min($0, SystemClock.monotonic) }
                request.record.mode = next
                request.session = SessionDirectory.next(after: first)
                program = AttachedProgram(try attachment(to: process))
            }
        } catch let error as AttachError {
            throw Diagnostics.fail(error.description, status: 126)
        } catch let error as RecordingError {
            if case .cannotAttach = error { throw Diagnostics.fail(error.description, status: 126) }
            throw Diagnostics.fail(error.description, status: error.exitStatus)
        }
    }

    private func request(of process: Int32) -> RecordingRequest {
        let executable = ProcessFacts.program(process)
        var request = RecordingRequest(
            executable: executable, arguments: ProcessFacts.arguments(process),
            session: output ?? "\(SessionName.stem(executable))-\(process).fathom", record: recordOptions)
        request.process = process
        request.flight = flight.plan(isQuiet: quiet)
        request.keepNames = SessionNames.keep
        return request
    }

    /// Records a stretch of a process that `fathom arm` has started.
    private func record(_ process: Int32, armedIn armed: String) throws {
        guard mode == .trace else {
            throw Diagnostics.fail("process \(process) is armed: --mode \(mode.rawValue) is not for that", status: 126)
        }
        guard functionOptions.isEmpty else {
            throw Diagnostics.fail(
                "process \(process) is armed: fathom ctl \(process) filter names the functions that are recorded of it",
                status: 126)
        }
        let request = request(of: process)
        let summary = try ArmedRecorder(request, in: armed, of: process).run(for: attaching.time?.nanoseconds) {
            if !quiet { Diagnostics.say("recording process \(process) into \(request.session)") }
        }
        if !quiet { SummaryText(summary).lines.forEach(Diagnostics.say) }
    }
}

/// What a process was started as.
private enum ProcessFacts {
    static func program(_ pid: Int32) -> String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = max(readlink("/proc/\(pid)/exe", &path, path.count), 0)
        return String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    static func arguments(_ pid: Int32) -> [String] {
        (SystemFile.contents(of: "/proc/\(pid)/cmdline") ?? "").split(separator: "\0").map(String.init)
    }
}
