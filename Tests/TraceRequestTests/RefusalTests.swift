import Glibc
import TestSupport
import Testing
import TraceFile
import TraceRecording

@testable import TraceRequest
@testable import TraceSymbols

/// Which programs are recorded, and where they are found.
@Suite struct RefusalTests {
    /// A program, what is asked of it besides, and what the refusal says; nil: none.
    struct Case: CustomTestStringConvertible, Sendable {
        var program: ExecutableInspection
        var force = false
        var tellsStartup = false
        var reason: String?

        init(
            _ kind: ExecutableInspection.Kind, _ reason: String?, force: Bool = false, startup: Bool = false,
            _ change: (inout ExecutableInspection) -> Void = { _ in }
        ) {
            program = ExecutableInspection(kind: kind)
            program.matchesHost = true
            change(&program)
            (self.force, tellsStartup, self.reason) = (force, startup, reason)
        }

        var testDescription: String { "\(program.kind): \(reason ?? "recorded")" }
    }

    @Test(arguments: [
        Case(.elfDynamic, "has no hooks; build it with fathom build"),
        Case(.elfDynamic, "made by Go, whose compiler gives functions no hooks; fathom sample -- ./prog") {
            $0.isGo = true
        },
        Case(.elfStatic, "made by Go") { $0.isGo = true },
        Case(.elfDynamic, nil, force: true) { $0.isGo = true },
        Case(.elfDynamic, nil) { $0.isInstrumented = true },
        Case(.elfDynamic, nil, force: true),
        Case(.elfDynamic, "has a function __cyg_profile_func_enter of its own") {
            ($0.isInstrumented, $0.hasOwnHooks) = (true, true)
        },
        Case(.elfDynamic, "built for another machine", force: true) { $0.matchesHost = false },
        Case(.elfDynamic, "set-uid, set-gid", force: true) { $0.isPrivileged = true },
        Case(.elfDynamic, "linked with musl", force: true) { $0.usesMusl = true },
        Case(.elfStatic, "statically linked"), Case(.elfStatic, nil, startup: true),
        Case(.elfStatic, nil) { $0.hasFathomRuntime = true },
        Case(.sharedLibrary, "a shared library", force: true),
        Case(.script(interpreter: "/bin/sh"), nil),
        Case(.script(interpreter: "/lib/ld-musl"), "linked with musl") { $0.usesMusl = true },
        Case(.notExecutableFormat, "neither an ELF program nor a script", force: true),
    ])
    func programs(_ asked: Case) {
        let refusal = Refusal(
            of: asked.program, at: "./prog", force: asked.force, tellsStartup: asked.tellsStartup)
        if let reason = asked.reason {
            #expect(refusal?.description.hasPrefix("./prog: \(reason)") == true, "\(String(describing: refusal))")
            #expect(refusal?.description.contains("\n") == false)
        } else {
            #expect(refusal == nil)
        }
    }

    /// Shells and what runs tests are recorded for what they start, as scripts are.
    @Test(arguments: [
        ("/bin/sh", true), ("/usr/bin/make", true), ("python3.11", true), ("./sh-prog", false), ("/bin/ls", false),
        ("pythonic", false),
    ])
    func starters(_ path: String, _ isRecorded: Bool) {
        var program = ExecutableInspection(kind: .elfDynamic)
        program.matchesHost = true
        #expect((Refusal(of: program, at: path, force: false) == nil) == isRecorded)
    }

    #if arch(x86_64)
        @Test(arguments: [
            Case(.elfDynamic, nil), Case(.elfDynamic, "has hooks") { $0.isInstrumented = true },
            Case(.elfDynamic, "made by Go") { $0.isGo = true }, Case(.elfStatic, "statically linked"),
            Case(.sharedLibrary, "a shared library"),
        ])
        func firstCalls(_ asked: Case) {
            let refusal = Refusal(ofFirstCallsIn: asked.program, at: "./prog")
            #expect(
                refusal.map { $0.description.hasPrefix("./prog: \(asked.reason ?? "nothing")") }
                    ?? (asked.reason == nil))
        }
    #endif

    /// What is refused is thrown, before anything is made.
    @Test func thrown() throws {
        let directory = try TemporaryDirectory("refused")
        let text = try directory.write("words", to: "words")
        #expect(throws: Refusal.self) {
            try RecordingRequest(of: text, [text], into: directory.file("s.fathom"), RecordOptions())
        }
        #expect(throws: SymbolProblem.self) {
            try RecordingRequest(of: directory.file("none"), ["none"], into: directory.file("s"), RecordOptions())
        }
    }
}

@Suite struct FindExecutableTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("found")
        for name in ["a", "b", "c"] { try directory.makeDirectory(name) }
        for (name, mode) in [("a/plain", 0o644), ("b/plain", 0o755), ("a/text", 0o600)] as [(String, mode_t)] {
            #expect(try chmod(directory.write("#!/bin/sh\n", to: name), mode) == 0)
        }
        try directory.makeDirectory("a/both")
        #expect(try chmod(directory.write("", to: "c/both"), 0o700) == 0)
    }

    private var path: String { ["a", "b", "c"].map(directory.file).joined(separator: ":") }

    /// A file without the right, and a directory, are passed over for what comes later in PATH.
    @Test func inPath() throws {
        #expect(try findExecutable("plain", in: path) == directory.file("b/plain"))
        #expect(try findExecutable("both", in: path) == directory.file("c/both"))
        #expect(try findExecutable(directory.file("b/plain"), in: "") == directory.file("b/plain"))
    }

    @Test func notFound() {
        let text = directory.file("a/text"), none = directory.file("none")
        for (command, failure) in [
            ("text", RecordingError.notExecutable(path: text)), (text, .notExecutable(path: text)),
            ("none", .notFound(command: "none")), (none, .notFound(command: none)), ("", .notFound(command: "")),
            (directory.path, .isDirectory(path: directory.path)),
        ] {
            #expect(throws: failure) { try findExecutable(command, in: path) }
        }
    }
}
