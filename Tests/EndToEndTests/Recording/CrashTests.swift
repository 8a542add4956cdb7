internal import Glibc
import TestSupport
import Testing

/// Whoever is killed, at whatever moment: all that had happened is in the recording, the open calls too.
@Suite struct CrashTests {
    enum Victim: String, CaseIterable, Sendable {
        case program, recorder, both

        /// Kills whom it says. Then the program is killed, too, if it goes on.
        func kill(_ recorder: BackgroundProcess, _ progress: SharedProgress) {
            switch self {
            case .program:
                Glibc.kill(progress.process, SIGKILL)
                #expect(recorder.wait() & 0x7f == SIGKILL, "fathom record dies of the program's signal")
            case .recorder:
                recorder.signal(SIGKILL)
                recorder.wait()
                let before = progress.calls
                #expect(waitUntil { progress.calls > before + 100 }, "the program goes on")
                endProgram(progress.process)
            case .both:
                recorder.signal(SIGKILL)
                endProgram(progress.process)
            }
        }
    }

    /// Waits until any moment within 60 ms, which the seed's multiplicative hash (D. Knuth) chooses.
    static func pause(_ seed: Int) { usleep(UInt32(truncatingIfNeeded: (seed &+ 1) &* 2_654_435_761) % 60_000) }

    private static let open = ["main": 1, "outer": 10, "forever": 1]

    @Test(arguments: Victim.allCases, 0..<17)
    func nothingIsLost(_ victim: Victim, _ seed: Int) throws {
        let binary = try Binaries.instrumented("progress.c", seed % 2 == 0 ? .gccO2 : .clangO0)
        let directory = try TemporaryDirectory("crash")
        let session = directory.file("session.fathom")
        let progress = try SharedProgress(directory.file("progress"))
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-o", session, "--quiet", "--", binary, directory.file("progress"),
        ])
        #expect(waitUntil { progress.calls > 0 })
        Self.pause(seed)
        victim.kill(recorder, progress)
        let calls = progress.calls

        let dump = try Dump(session)
        #expect(dump.output.status == 0, "\(dump.output.stderr)")
        let recorded = try dump.counts()["leaf", default: 0]
        #expect((calls...calls + 1).contains(recorded))
        var stillOpen: [String: Int] = [:]
        try dump.forEach { line in
            if line.kind == "open", let function = line.text(.function) { stillOpen[function, default: 0] += 1 }
        }
        stillOpen["leaf"] = nil
        #expect(stillOpen == Self.open)
    }

    /// A recording can be read while it is being written.
    @Test func readWhileWritten() throws {
        let binary = try Binaries.instrumented("progress.c", .gccO2)
        let directory = try TemporaryDirectory("live")
        let session = directory.file("session.fathom")
        let progress = try SharedProgress(directory.file("progress"))
        let recorder = try BackgroundProcess([
            Fathom.executable, "record", "-o", session, "--quiet", "--", binary, directory.file("progress"),
        ])
        #expect(waitUntil { progress.calls > 1000 })
        for _ in 0..<5 {
            let calls = progress.calls
            let dump = try Dump(session)
            #expect(dump.output.status == 0, "\(dump.output.stderr)")
            #expect(try dump.counts()["leaf", default: 0] >= calls)
        }
        endProgram(progress.process)
        recorder.wait()
    }
}

/// Kills a process that is not a child of this one, and waits until it is gone or a zombie.
func endProgram(_ process: Int32) {
    kill(process, SIGKILL)
    _ = waitUntil {
        guard let status = try? readFile("/proc/\(process)/stat") else { return true }
        let fields = String(decoding: status, as: UTF8.self).split(separator: ")").last ?? ""
        return fields.hasPrefix(" Z")
    }
}

/// What `progress.c` says of itself, in memory that outlives it.
final class SharedProgress {
    private let numbers: UnsafeMutablePointer<Int>

    init(_ path: String) throws(TestSupportError) {
        try writeFile([UInt8](repeating: 0, count: 4096), to: path)
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        let memory = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory, memory != MAP_FAILED else { throw .failed("mmap \(path)", errno: errno) }
        numbers = memory.assumingMemoryBound(to: Int.self)
    }

    deinit { munmap(numbers, 4096) }

    /// Calls of `leaf` that have returned.
    var calls: Int { numbers[0] }
    var process: Int32 { Int32(truncatingIfNeeded: numbers[1]) }
}
