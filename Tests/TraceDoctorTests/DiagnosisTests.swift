import Glibc
import TestSupport
import Testing
import TraceBuild
import TraceDoctor
import TraceText

@Suite struct DiagnosisTests {
    /// A machine on which nothing is amiss.
    private static let well: MachineFacts = {
        var facts = MachineFacts()
        facts.counterIsTrusted = true
        facts.clockSource = "tsc"
        facts.perfEventParanoid = 1
        facts.ptraceScope = 0
        facts.sharedMemory = .init(size: 1 << 33, free: 1 << 33)
        facts.disk = .init(size: 1 << 40, free: 1 << 39)
        facts.compilers = [.init(name: "gcc", path: "/usr/bin/gcc", hasHooks: true)]
        return facts
    }()

    /// A machine that differs in one thing, and what is found of that.
    struct Fake: Sendable, CustomTestStringConvertible {
        var subject: String
        var state: Finding.State
        /// In the finding or its remedy.
        var words: [String]
        var change: @Sendable (inout MachineFacts) -> Void

        init(
            _ subject: String, _ state: Finding.State, _ words: [String],
            _ change: @escaping @Sendable (inout MachineFacts) -> Void
        ) {
            (self.subject, self.state, self.words, self.change) = (subject, state, words, change)
        }

        var testDescription: String { "\(subject) \(state) \(words)" }
    }

    private static func program(_ change: (inout MachineFacts.Program) -> Void) -> MachineFacts.Program {
        var program = MachineFacts.Program(
            path: "./prog", refusal: nil, functionCount: 1200, hookedCount: 1100, hasLines: true)
        change(&program)
        return program
    }

    static let fakes = [
        Fake("runtime", .no, ["/opt/lib/fathom/libfathom.so", "install"]) {
            $0.missingParts = ["/opt/lib/fathom/libfathom.so"]
        },
        Fake("clock", .limited, ["hpet", "tsc=reliable"]) { ($0.counterIsTrusted, $0.clockSource) = (false, "hpet") },
        Fake("clock", .limited, ["/sys does not tell", "mount -t sysfs"]) {
            ($0.counterIsTrusted, $0.clockSource) = (false, nil)
        },
        Fake("clock", .ok, ["the kernel trusts"]) { $0.clockSource = nil },
        Fake("disk", .limited, ["500.0 MB free", "--max-size"]) { $0.disk?.free = 500_000_000 },
        Fake("disk", .limited, ["unknown"]) { $0.disk = nil },
        Fake("/dev/shm", .limited, ["64.0 MB", "--shm-size"]) {
            $0.sharedMemory = .init(size: 64_000_000, free: 64_000_000)
        },
        Fake("/dev/shm", .limited, ["not there", "mount"]) { $0.sharedMemory = nil },
        Fake("perf", .ok, ["is -1"]) { $0.perfEventParanoid = -1 },
        Fake("perf", .ok, ["the kernel not", "is 2"]) { $0.perfEventParanoid = 2 },
        Fake("perf", .limited, ["only root", "sysctl kernel.perf_event_paranoid=2"]) { $0.perfEventParanoid = 4 },
        Fake("perf", .limited, ["no perf events"]) { $0.perfEventParanoid = nil },
        Fake("ptrace", .ok, ["running programs"]) { $0.ptraceScope = nil },
        Fake("ptrace", .ok, ["what they started", "sysctl kernel.yama.ptrace_scope=0"]) { $0.ptraceScope = 1 },
        Fake("ptrace", .limited, ["only root"]) { $0.ptraceScope = 2 },
        Fake("ptrace", .limited, ["nobody", "boot"]) { $0.ptraceScope = 3 },
        Fake("library", .ok, ["libx.so", "programs that load it", "2 of 3"]) {
            $0.program = program { ($0.path, $0.isLibrary, $0.hookedCount, $0.functionCount) = ("libx.so", true, 2, 3) }
        },
        Fake("library", .limited, ["libx.so", "fathom build"]) {
            $0.program = program { ($0.path, $0.isLibrary, $0.hookedCount) = ("libx.so", true, 0) }
        },
        Fake("compilers", .limited, ["none in PATH", "install"]) { $0.compilers = [] },
        Fake("clang", .limited, ["cannot give", "clang 7"]) {
            $0.compilers.append(.init(name: "clang", path: "/opt/clang", hasHooks: false))
        },
        Fake("swiftc", .limited, ["cannot give", "swift.org"]) {
            $0.compilers.append(.init(name: "swiftc", path: "/opt/swiftc", hasHooks: false))
        },
        Fake("debuginfod", .limited, ["--symbols"]) { $0.debuginfod = "https://debuginfod.example" },
        Fake("program", .ok, ["1,100 of 1,200 functions"]) { $0.program = program { _ in } },
        Fake("program", .no, ["not instrumented"]) {
            $0.program = program { $0.refusal = "./prog: not instrumented" }
        },
        Fake("symbols", .ok, ["files and lines"]) { $0.program = program { _ in } },
        Fake("symbols", .limited, ["no files", "-g"]) { $0.program = program { $0.hasLines = false } },
        Fake("symbols", .limited, ["stripped", "--symbols"]) {
            $0.program = program { ($0.functionCount, $0.hookedCount, $0.hasLines) = (0, 0, false) }
        },
    ]

    @Test(arguments: fakes) func finds(_ fake: Fake) throws {
        var facts = Self.well
        fake.change(&facts)
        let diagnosis = Diagnosis(facts)
        let finding = try #require(diagnosis.findings.first { $0.subject == fake.subject })
        #expect(finding.state == fake.state)
        for word in fake.words { #expect("\(finding.text) \(finding.remedy ?? "")".contains(word), "\(finding)") }
        // Whatever is not as it could be has a remedy, if there is one.
        if finding.state != .ok, !["disk", "perf", "program"].contains(fake.subject) {
            #expect(finding.remedy != nil)
        }
        #expect(diagnosis.isWell == (fake.state != .no))
        // Nothing else is found to be different.
        let others = Diagnosis(Self.well).findings.filter { $0.subject != fake.subject }
        for other in others where other.subject != "gcc" || !facts.compilers.isEmpty {
            #expect(diagnosis.findings.contains(other), "\(other)")
        }
    }

    @Test func aMachineOnWhichNothingIsAmiss() {
        let diagnosis = Diagnosis(Self.well)
        #expect(diagnosis.isWell && diagnosis.findings.allSatisfy { $0.state == .ok && $0.remedy == nil })
        #expect(Set(diagnosis.findings.map(\.subject)).count == diagnosis.findings.count)
    }

    @Test func factsOfAKernel() throws {
        let directory = try TemporaryDirectory("doctor")
        let made = try run(
            "mkdir",
            ["-p"]
                + ["sys/devices/system/clocksource/clocksource0", "proc/sys/kernel/yama", "dev/shm"].map(directory.file)
        )
        #expect(made.status == 0)
        _ = try directory.write("hpet\n", to: "sys/devices/system/clocksource/clocksource0/current_clocksource")
        _ = try directory.write("-1\n", to: "proc/sys/kernel/perf_event_paranoid")
        _ = try directory.write("2\n", to: "proc/sys/kernel/yama/ptrace_scope")
        let facts = MachineFacts(root: directory.path, workingDirectory: directory.path)
        #expect(facts.clockSource == "hpet" && facts.perfEventParanoid == -1 && facts.ptraceScope == 2)
        #expect(facts.sharedMemory?.size == facts.disk?.size && (facts.disk?.size ?? 0) > 0)
        let nothing = MachineFacts(root: directory.file("nothing"), workingDirectory: directory.file("nothing"))
        #expect(nothing.clockSource == nil && nothing.perfEventParanoid == nil && nothing.ptraceScope == nil)
        #expect(nothing.sharedMemory == nil && nothing.disk == nil)
    }

    /// What terminals of three sizes show, against the files `Golden/doctor-*.txt`; `FATHOM_BLESS=1` writes them anew.
    @Test(arguments: [80, 120, 200]) func screens(_ width: Int) throws {
        var facts = Self.well
        (facts.counterIsTrusted, facts.clockSource) = (false, "hpet")
        (facts.perfEventParanoid, facts.ptraceScope) = (4, 3)
        facts.sharedMemory = .init(size: 64_000_000, free: 64_000_000)
        facts.compilers.append(.init(name: "clang", path: "/opt/clang/bin/clang", hasHooks: false))
        facts.program = Self.program { $0.hasLines = false }
        let shown = ByteWriter.bytes { DoctorReport(Diagnosis(facts), width: width).write(.text, to: $0) }
        let text = String(decoding: shown, as: UTF8.self)
        #expect(text.split(separator: "\n").allSatisfy { String($0).columns <= width }, "\(text)")
        let folder = #filePath.split(separator: "/").dropLast().map { "/" + $0 }.joined()
        let file = "\(folder)/Golden/doctor-\(width).txt"
        guard getenv("FATHOM_BLESS") == nil else { return try writeFile(shown, to: file) }
        #expect(text == String(decoding: try readFile(file), as: UTF8.self))
    }

    /// On a terminal, lines go on below where they began, and states stand out.
    @Test func textOnATerminal() {
        var facts = Self.well
        facts.clockSource = "hpet"
        facts.counterIsTrusted = false
        func report(width: Int? = nil, isColoured: Bool = false) -> DoctorReport {
            DoctorReport(Diagnosis(facts), width: width, isColoured: isColoured)
        }
        let wide = String(decoding: ByteWriter.bytes { report().write(.text, to: $0) }, as: UTF8.self)
        let narrow = String(decoding: ByteWriter.bytes { report(width: 60).write(.text, to: $0) }, as: UTF8.self)
        let lines = narrow.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count <= 60 } && lines.count > wide.split(separator: "\n").count, "\(narrow)")
        func words(_ text: String) -> [Substring] { text.split { " \n".contains($0) } }
        #expect(words(narrow) == words(wide))
        let coloured = ByteWriter.bytes { report(isColoured: true).write(.text, to: $0) }
        let text = String(decoding: coloured, as: UTF8.self)
        #expect(text.contains("\u{1b}[33mlimited\u{1b}[0m  clock") && text.contains("\u{1b}[32mok\u{1b}[0m       disk"))
    }

    @Test func textAndJSON() {
        var facts = Self.well
        facts.missingParts = ["/a\"b/libfathom.so"]
        let bytes = ByteWriter.bytes { writer in
            let report = DoctorReport(Diagnosis(facts))
            report.write(.text, to: writer)
            report.write(.json, to: writer)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(
            text.hasPrefix(
                "no       runtime     missing: /a\"b/libfathom.so\n                     → install Fathom anew"))
        #expect(
            text.contains(
                "\nok       clock       the processor's counter, which the kernel trusts (clock source tsc)\n"))
        #expect(text.contains(#"{"ok":false,"findings":["#))
        #expect(
            text.contains(#"{"subject":"runtime","state":"no","text":"missing: /a\"b/libfathom.so","remedy":"install"#))
        #expect(text.contains(#""subject":"clock","state":"ok""#) && text.hasSuffix(#""remedy":null}]}"# + "\n"))
    }
}
