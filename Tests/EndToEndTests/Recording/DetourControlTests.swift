#if arch(x86_64)
    import TestSupport
    import Testing

    /// What `record --any` and `--libcalls` do so that programs run as ever. Without it, there is a program that does not.
    @Suite struct DetourControlTests {
        private let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory("detour-controls") }

        enum Program: String, Sendable {
            case throwing, faulting, relying

            func build(in directory: TemporaryDirectory) throws -> String {
                switch self {
                case .throwing:
                    try Toolchain.compile(
                        sources: ["throwing.cpp": DetourControlTests.throwing], compiler: .gxx, flags: ["-O1"],
                        output: directory.file("throwing"))
                case .faulting:
                    try Binaries.make(
                        "faulting-control", command: "g++", ["-O1", "-fnon-call-exceptions"],
                        ["\(Binaries.sources)/faulting.cpp"])
                case .relying:
                    try Toolchain.compile(
                        sources: ["relying.c": DetourControlTests.relying], compiler: .gcc, flags: ["-O2", "-fipa-ra"],
                        output: directory.file("relying"))
                }
            }
        }

        struct Control: Sendable, CustomTestStringConvertible {
            var testDescription: String
            var file: String
            var changes: [ChangedRuntime.Change]
            /// What goes wrong with them, and by which options; and what does not.
            var harmed: Program
            var options: [[String]]
            var unharmed: Program
        }

        private static let places = #"".set number, 0\n.rept " TEXT(PLACE_COUNT) "\n""#
        private static let placesEnd =
            #".size place_code, . - place_code\n.popsection\n");"# + "\n\n_Static_assert(PLACE_SIZE == 32"
        private static let leaves =
            #""leaq 88(%rsp), %rsp\n.cfi_def_cfa_offset 8\nret\n" PLACE_END("place_leave")"#
        private static let enters = #""leaq 96(%rsp), %rsp\n.cfi_def_cfa_offset 0\njmp *-16(%rsp)\n""#

        private static func spoil(_ registers: [String]) -> String {
            "\"" + registers.map { #"movq $-1, %\#($0)\n"# }.joined() + "\" "
        }

        static let controls = [
            Control(
                testDescription: "return places without a table for unwinding", file: "entry/place_calls.c",
                changes: [
                    // It ends before the first place.
                    .init(text: places, replacement: #"".cfi_endproc\n" "# + places),
                    .init(text: #"".cfi_endproc\n"# + placesEnd, replacement: "\"" + placesEnd),
                ], harmed: .throwing, options: [["--any"], ["--libcalls"]], unharmed: .relying),
            Control(
                testDescription: "moved instructions without a table for unwinding", file: "entry/detour_calls.c",
                changes: [
                    .init(
                        text: "return detours_frames(address, low, high);",
                        replacement: "return (void)address, (void)low, (void)high, NULL;")
                ], harmed: .faulting, options: [["--any"]], unharmed: .throwing),
            Control(
                testDescription: "only the registers that the ABI keeps at the end of a call",
                file: "entry/place_calls.c",
                changes: [
                    .init(
                        text: leaves,
                        replacement: spoil(["rcx", "rsi", "rdi", "r8", "r9", "r10", "r11"]) + leaves)
                ], harmed: .relying, options: [["--any"]], unharmed: .throwing),
            Control(
                testDescription: "only the registers that the ABI keeps at the beginning of a call",
                file: "entry/detour_calls.c",
                changes: [.init(text: enters, replacement: spoil(["r11"]) + enters)],
                harmed: .relying, options: [["--any"]], unharmed: .throwing),
        ]

        private func record(_ program: String, by fathom: String, _ options: [String]) throws -> ProcessOutput {
            try run(
                fathom, ["record", "--quiet", "-o", directory.file("s.fathom")] + options + ["--", program],
                environment: Fathom.inherited(adding: [:]), seconds: 60)
        }

        private static func isEqual(_ one: ProcessOutput, _ other: ProcessOutput) -> Bool {
            one.status == other.status && one.stdout == other.stdout
        }

        @Test(arguments: controls) func isNeeded(_ control: Control) throws {
            let right = try ChangedRuntime.unchanged.get()
            let wrong = try ChangedRuntime.fathom(control.file, control.changes, in: directory)
            let harmed = try control.harmed.build(in: directory), plain = try run(harmed)
            for options in control.options {
                let asEver = try record(harmed, by: right, options)
                #expect(Self.isEqual(asEver, plain), "\(options): \(asEver)")
                let without = try record(harmed, by: wrong, options)
                #expect(!Self.isEqual(without, plain), "\(options): \(without)")
            }
            // Nothing else is wrong with that runtime.
            let unharmed = try control.unharmed.build(in: directory)
            let other = try record(unharmed, by: wrong, ["--any", "--libcalls"])
            #expect(Self.isEqual(other, try run(unharmed)), "\(other)")
        }

        enum Entry: String, CaseIterable, Sendable {
            case entered, returning

            var source: String {
                switch self {
                case .entered: DetourControlTests.entered
                case .returning: DetourControlTests.returning
                }
            }

            var flags: [String] { self == .entered ? ["-nostartfiles", "-Wl,-e,begin"] : [] }

            /// What the table for unwinding says.
            var table: String {
                switch self {
                case .entered: #".cfi_undefined rip\n"#
                case .returning: #".cfi_def_cfa rsp, 0\n.cfi_register rip, r8\n"#
                }
            }
        }

        /// Functions that no call leads to, or whose caller's address lies elsewhere, are left alone for what the table says of them.
        /// Where it says nothing of the kind, they get detours, and what they find is wrong.
        @Test(arguments: Entry.allCases) func tableTells(_ entry: Entry) throws {
            for (name, table, isHarmed) in [("right", entry.table, false), ("wrong", "", true)] {
                let program = try Toolchain.compile(
                    sources: ["\(name).c": entry.source], compiler: .gcc,
                    flags: ["-O1", "-DTABLE=\"\(table)\""] + entry.flags, output: directory.file(name))
                let plain = try run(program), recorded = try record(program, by: Fathom.executable, ["--any"])
                #expect(plain.status == 3)
                #expect(Self.isEqual(recorded, plain) != isHarmed, "\(name): \(recorded)")
            }
        }
    }
#endif
