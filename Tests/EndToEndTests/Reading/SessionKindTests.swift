import Glibc
import TestSupport
import Testing

/// However a program was recorded, its session shows the same when the program was replaced, and when it is gone.
@Suite struct SessionKindTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("session kinds") }

    enum Kind: String, CaseIterable, Sendable {
        case trace, waits, startup, memory, faults, arguments, profile, counts, stack, flight, firstCalls, dormant
        case attached, attachedDormant, armed, sampled, sampledHooks

        /// The options of a recording that starts the program; nil of others.
        var options: [String]? {
            switch self {
            case .trace, .dormant: []
            case .waits: ["--blocked"]
            case .startup: ["--startup"]
            case .memory: ["--memory"]
            case .faults: ["--faults"]
            case .arguments: ["--args", "*round", "--args", "inside"]
            case .profile, .counts, .stack: ["--mode", rawValue]
            case .flight: ["--mode", "flight", "--when", "*slow>20ms"]
            case .firstCalls: ["--first-calls"]
            case .attached, .attachedDormant, .armed, .sampled, .sampledHooks: nil
            }
        }

        var hooks: LastingProgram.Hooks {
            switch self {
            case .dormant, .attachedDormant: .dormant
            case .firstCalls, .sampled: .none
            default: .always
            }
        }
    }

    private func build(_ generation: LastingProgram.Generation, _ hooks: LastingProgram.Hooks, _ flags: [String] = [])
        throws
    {
        try LastingProgram.build(generation, hooks, flags, in: directory)
    }

    private func fathom(_ arguments: [String]) throws -> ProcessOutput {
        let made = try Fathom.run(arguments, workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
        return made
    }

    /// Starts the program, which goes on until it is asked to end, and calls `body` with its id.
    private func withProgram(armed: Bool = false, _ body: (Int32) throws -> Void) throws {
        let arm = armed ? "'\(Fathom.executable)' arm -q --buffers . -- " : ""
        let process = try BackgroundProcess(["sh", "-c", "cd '\(directory.path)' && exec \(arm)./p ./l.so end"])
        func program() -> Int32? {
            let children = try? readFile("/proc/\(process.pid)/task/\(process.pid)/children")
            let child = children.flatMap {
                Int32(String(decoding: $0, as: UTF8.self).split(separator: " ").first ?? "")
            }
            return armed ? child : process.pid
        }
        // It has loaded its library by then.
        let isReady = waitUntil {
            guard let program = program(), let maps = try? readFile("/proc/\(program)/maps") else { return false }
            return String(decoding: maps, as: UTF8.self).contains("/l.so")
        }
        try #require(isReady)
        try body(try #require(program()))
        _ = try directory.write("", to: "end")
        #expect(process.wait() == 0)
        _ = try run("rm", [directory.file("end")])
    }

    /// - Returns: the session's name.
    private func record(_ kind: Kind, beforehand: () throws -> Void = {}) throws -> String {
        if let options = kind.options {
            let recorded = try fathom(["record", "-q"] + options + ["-o", "s.fathom", "--", "./p", "./l.so", "80"])
            #expect(recorded.stderr.isEmpty, "\(recorded.stderr)")
            return kind == .flight ? "s-1.fathom" : "s.fathom"
        }
        let command =
            kind == .sampled || kind == .sampledHooks
            ? ["sample", "-q", "--interval", "1ms", "--for", "300ms", "-o", "s.fathom"]
            : ["record", "-q", "--for", "300ms", "-o", "s.fathom", "--attach"]
        try withProgram(armed: kind == .armed) {
            try beforehand()
            _ = try fathom(command + ["\($0)"])
        }
        return "s.fathom"
    }

    @Test(arguments: Kind.allCases) func replacedAndGone(_ kind: Kind) throws {
        if kind == .faults, !Privilege.seesFaults { return }
        try build(.old, kind.hooks)
        let session = try record(kind)
        let more = kind == .startup ? SessionViews.startCommands : []
        func views() throws -> SessionViews { try SessionViews(session, in: directory.path, more: more) }
        let home = try views()
        #expect(home.count >= (kind == .firstCalls ? 2 : 8) && home.text.contains("old_"), "\(home.text.prefix(2000))")
        #expect(kind == .firstCalls || home.text.contains("lasting.c:"))
        for name in ["p+0x", "l.so+0x"] { #expect(!home.text.contains(name)) }
        try build(.new, kind.hooks)
        #expect(try views().differences(from: home) == [])
        _ = try run("rm", [directory.file("p"), directory.file("l.so")])
        #expect(try views().differences(from: home) == [])
    }

    /// A program that runs already may have been replaced before it is recorded. Its own file is read, never another one.
    @Test(arguments: [Kind.attached, .armed, .sampled, .sampledHooks], [[], ["-Wl,--build-id=none"]])
    func replacedBefore(_ kind: Kind, _ flags: [String]) throws {
        try build(.old, kind.hooks, flags)
        let session = try record(kind) { try build(.new, kind.hooks, flags) }
        for view in [["report", session, "--no-cache"], ["graph", session]] {
            let shown = try Fathom.run(view, workingDirectory: directory.path)
            #expect(shown.status == 0 && shown.stdout.contains("old_round"), "\(shown)")
            #expect(!shown.stdout.contains("new_"), "\(shown)")
            // The kernel shows others than root only the program's file, and not those of its libraries.
            if geteuid() == 0 { #expect(!shown.stdout.contains("+0x") && shown.stderr.isEmpty, "\(shown)") }
        }
        // Nor does a reader that has to make names up.
        _ = try run("rm", ["-f", directory.file("\(session)/names"), directory.file("\(session)/aggregate")])
        let shown = try Fathom.run(["report", session, "--no-cache"], workingDirectory: directory.path)
        #expect(!shown.stdout.contains("new_") && shown.stdout.contains("+0x"), "\(shown)")
    }

    /// Where a program loads two libraries from one path that have no build-id, nothing tells which calls are whose.
    @Test func anotherLibraryLoaded() throws {
        let flags = ["-Wl,--build-id=none"]
        try build(.old, .always, flags)
        let recording = try BackgroundProcess([
            "sh", "-c",
            "cd '\(directory.path)' && exec '\(Fathom.executable)' record -q -o s.fathom -- ./p ./l.so end again",
        ])
        func maps(_ inode: UInt64) -> Bool {
            let children = (try? readFile("/proc/\(recording.pid)/task/\(recording.pid)/children")) ?? []
            guard let child = String(decoding: children, as: UTF8.self).split(separator: " ").first,
                let maps = try? readFile("/proc/\(child)/maps")
            else { return false }
            return String(decoding: maps, as: UTF8.self).contains(" \(inode) ")
        }
        var status = stat()
        for generation in [LastingProgram.Generation.old, .new] {
            if generation == .new { try build(.new, .always, flags) }
            try #require(stat(directory.file("l.so"), &status) == 0)
            #expect(waitUntil { maps(UInt64(status.st_ino)) })
        }
        _ = try directory.write("", to: "end")
        #expect(recording.wait() == 0)
        let shown = try fathom(["tree", "s.fathom"])
        #expect(shown.stdout.contains("old_round") && shown.stdout.contains("l.so+0x"), "\(shown.stderr)")
        for name in ["old_leaf", "new_", "inside"] { #expect(!shown.stdout.contains(name)) }
        #expect(shown.stderr.contains("l.so was changed since the recording"), "\(shown.stderr)")
    }

    /// A program without a build-id that was changed since it was recorded is not asked, and somebody says so.
    @Test func changedWithoutBuildID() throws {
        try build(.old, .always, ["-Wl,--build-id=none"])
        let session = try record(.trace)
        _ = try run("rm", [directory.file("\(session)/names")])
        #expect(try fathom(["report", session, "--no-cache"]).stdout.contains("old_round"))
        _ = try run("rm", [directory.file("\(session)/names")])
        try build(.new, .always, ["-Wl,--build-id=none"])
        for view in ["tree", "report", "unused", "order"] {
            let shown = try Fathom.run([view, session], workingDirectory: directory.path)
            #expect(!shown.stdout.contains("new_") && !shown.stdout.contains("old_"), "\(shown)")
            #expect(shown.stderr.contains("has no build-id to know it by"), "\(shown.stderr)")
        }
    }

    /// Who looks while a process goes on that has lost its recorder keeps no names: some of its functions are called later.
    @Test func namesOfWhatGoesOn() throws {
        try build(.old, .always)
        let recording = try BackgroundProcess([
            "sh", "-c", "cd '\(directory.path)' && exec '\(Fathom.executable)' record -q -o s.fathom -- ./p ./l.so end",
        ])
        #expect(
            waitUntil {
                (try? Fathom.run(["report", "s.fathom"], workingDirectory: directory.path))?.stdout.contains("old_leaf")
                    ?? false
            })
        recording.signal(SIGKILL)
        recording.wait()
        let early = try fathom(["report", "s.fathom"]).stdout
        #expect(early.contains("old_round") && access(directory.file("s.fathom/names"), F_OK) != 0)
        _ = try directory.write("", to: "end")
        #expect(
            waitUntil {
                _ = try? Fathom.run(["report", "s.fathom"], workingDirectory: directory.path)
                return access(directory.file("s.fathom/names"), F_OK) == 0
            })
        _ = try run("rm", [directory.file("p"), directory.file("l.so")])
        let late = try fathom(["report", "s.fathom"])
        #expect(late.stdout.contains("old_leaf") && !late.stdout.contains("+0x"), "\(late)")
    }

    /// Of a start that was not asked for, the session does not hold what the dynamic linker had to do; then nobody says so wrongly.
    @Test func relocationsThatAreNotKnown() throws {
        try build(.old, .always)
        let session = try record(.trace)
        let home = try fathom(["startup", session]).stdout
        #expect(home.contains("\nrelocations: ") && !home.contains("not known, because"), "\(home)")
        try build(.new, .always)
        let away = try fathom(["startup", session]).stdout
        #expect(
            !away.contains("\nrelocations: ") && away.contains("/l.so and 1 more cannot be read any more, or may be"),
            "\(away)")
        #expect(try fathom(["startup", session, "--format", "json"]).stdout.contains("\"relocations\":null,\n"))
    }

    /// A library that nothing refers to is told where neither it nor the program is; also of a program without hooks.
    @Test(arguments: [LastingProgram.Hooks.always, .none]) func unusedLibrary(_ hooks: LastingProgram.Hooks) throws {
        _ = try directory.write("int idle(void) { return 1; }\n", to: "idle.c")
        _ = try directory.write("int main(void) { return 0; }\n", to: "main.c")
        let flags = hooks == .always ? "-finstrument-functions" : "-g"
        let made = try run(
            "sh",
            [
                "-c",
                "gcc -shared -fPIC idle.c -o libidle.so && gcc \(flags) main.c -o p -Wl,--no-as-needed -L. -lidle '-Wl,-rpath,$ORIGIN'",
            ], workingDirectory: directory.path)
        try #require(made.status == 0, "\(made.stderr)")
        let force = hooks == .none ? ["--force"] : []
        _ = try fathom(["record", "-q", "--startup"] + force + ["-o", "s.fathom", "--", "./p"])
        let home = try fathom(["startup", "s.fathom", "--format", "json"]).stdout
        #expect(home.contains("libidle.so\",\"system\":false,\"recording\":false,\"unused\":true"), "\(home)")
        _ = try run("rm", [directory.file("p"), directory.file("libidle.so")])
        #expect(try fathom(["startup", "s.fathom", "--format", "json"]).stdout == home)
    }

    /// What a flight recorder has saved is read once, and each save has the names of all.
    @Test func savesShareNames() throws {
        try build(.old, .always)
        _ = try fathom(["record", "-q"] + Kind.flight.options! + ["-o", "s.fathom", "--", "./p", "./l.so", "200"])
        let names = try (1...3).map { try readFile(directory.file("s-\($0).fathom/names")) }
        #expect(names[0] == names[1] && names[1] == names[2])
        #expect(access(directory.file("s.fathom"), F_OK) != 0)
    }
}
