internal import TraceBuild
internal import TraceText

/// What the facts of a machine mean.
public struct Diagnosis: Sendable {
    public let findings: [Finding]

    /// Whether nothing keeps Fathom from recording and building.
    public var isWell: Bool { !findings.contains { $0.state == .no } }

    public init(_ facts: MachineFacts) {
        var findings = [
            Diagnosis.runtime(facts), Diagnosis.clock(facts), Diagnosis.disk(facts), Diagnosis.sharedMemory(facts),
            Diagnosis.perf(facts), Diagnosis.ptrace(facts),
        ]
        findings += Diagnosis.compilers(facts)
        findings.append(Diagnosis.debuginfod(facts))
        if let program = facts.program { findings += Diagnosis.program(program) }
        self.findings = findings
    }

    private static func runtime(_ facts: MachineFacts) -> Finding {
        facts.missingParts.isEmpty
            ? Finding("runtime", .ok, "all libraries that go into programs are there")
            : Finding(
                "runtime", .no, "missing: \(facts.missingParts.joined(separator: ", "))",
                remedy: "install Fathom anew, or copy all of its directories together")
    }

    private static func clock(_ facts: MachineFacts) -> Finding {
        let source = facts.clockSource.map { " (clock source \($0))" } ?? ""
        if !facts.counterIsTrusted, facts.clockSource == nil {
            return Finding(
                "clock", .limited,
                "the kernel's clock, because /sys does not tell whether the processor's counter can be relied on; hooks take longer",
                remedy: "in a container or a chroot: mount -t sysfs sysfs /sys")
        }
        return facts.counterIsTrusted
            ? Finding("clock", .ok, "the processor's counter, which the kernel trusts\(source)")
            : Finding(
                "clock", .limited,
                "the kernel's clock\(source), because the processor's counter cannot be relied on; hooks take longer",
                remedy: "if the counter is steady, boot with tsc=reliable; the kernel's log says why it is not trusted")
    }

    private static func disk(_ facts: MachineFacts) -> Finding {
        guard let disk = facts.disk else { return Finding("disk", .limited, "unknown room in the working directory") }
        let text = "\(CountText.size(disk.free)) free in the working directory; a recording takes about 10 bytes a call"
        return disk.free >= 1 << 30
            ? Finding("disk", .ok, text)
            : Finding(
                "disk", .limited, text, remedy: "record to where there is more room (-o), or limit it (--max-size)")
    }

    private static func sharedMemory(_ facts: MachineFacts) -> Finding {
        guard let space = facts.sharedMemory else {
            return Finding(
                "/dev/shm", .limited, "not there; Fathom does without, but the programs that it records may not",
                remedy: "mount -t tmpfs tmpfs /dev/shm")
        }
        let text = "\(CountText.size(space.free)) free of \(CountText.size(space.size))"
        return space.free >= 256 << 20
            ? Finding("/dev/shm", .ok, text + "; a session there (-o /dev/shm/NAME) takes memory and no disk")
            : Finding(
                "/dev/shm", .limited, text + "; too little for a session, and perhaps for the programs recorded",
                remedy: "mount -o remount,size=1G /dev/shm; for a container, --shm-size=1g")
    }

    private static func perf(_ facts: MachineFacts) -> Finding {
        guard let value = facts.perfEventParanoid else {
            return Finding("perf", .limited, "the kernel has no perf events; Fathom records without them")
        }
        let setting = "kernel.perf_event_paranoid is \(value)"
        switch value {
        case ...1: return Finding("perf", .ok, "programs and the kernel under them may be sampled (\(setting))")
        case 2: return Finding("perf", .ok, "programs may be sampled, the kernel not (\(setting); 1 allows it)")
        default:
            return Finding(
                "perf", .limited, "only root may sample programs (\(setting)); Fathom records without perf events",
                remedy: "sysctl kernel.perf_event_paranoid=2")
        }
    }

    private static func ptrace(_ facts: MachineFacts) -> Finding {
        guard let value = facts.ptraceScope, value > 0 else {
            return Finding("ptrace", .ok, "debuggers may attach to a user's running programs")
        }
        let setting = "kernel.yama.ptrace_scope is \(value)"
        let remedy = "sysctl kernel.yama.ptrace_scope=0"
        switch value {
        case 1:
            return Finding(
                "ptrace", .ok, "debuggers may attach to what they started (\(setting)); Fathom records without ptrace",
                remedy: "to attach to running programs: \(remedy)")
        case 2:
            return Finding(
                "ptrace", .limited, "only root may attach to programs (\(setting)); Fathom records without ptrace",
                remedy: remedy)
        default:
            return Finding(
                "ptrace", .limited, "nobody may attach to programs (\(setting)); Fathom records without ptrace",
                remedy: "boot with another setting: this one cannot be taken back")
        }
    }

    private static func compilers(_ facts: MachineFacts) -> [Finding] {
        guard !facts.compilers.isEmpty else {
            return [
                Finding(
                    "compilers", .limited, "none in PATH; programs that were built elsewhere can be recorded",
                    remedy: "install gcc or clang for C and C++, a toolchain of swift.org for Swift")
            ]
        }
        return facts.compilers.map { compiler in
            compiler.hasHooks
                ? Finding(compiler.name, .ok, "\(compiler.path), can give functions hooks")
                : Finding(
                    compiler.name, .limited, "\(compiler.path), cannot give functions hooks",
                    remedy: compiler.name.hasPrefix("swift")
                        ? "install a toolchain of swift.org, 6.0 or newer" : "install gcc, or clang 7 or newer")
        }
    }

    private static func debuginfod(_ facts: MachineFacts) -> Finding {
        facts.debuginfod == nil
            ? Finding("debuginfod", .ok, "not set up, and not asked: names come from the programs and --symbols")
            : Finding(
                "debuginfod", .limited, "DEBUGINFOD_URLS is set, but Fathom asks no server",
                remedy: "debuginfod-find debuginfo PROGRAM gives a file for --symbols")
    }

    private static func program(_ program: MachineFacts.Program) -> [Finding] {
        var findings: [Finding] = []
        let counted =
            "\(CountText.grouped(UInt64(program.hookedCount))) of "
            + "\(CountText.grouped(UInt64(program.functionCount))) functions have hooks"
        if program.isLibrary {
            let text = "\(program.path): a shared library, recorded with the programs that load it; \(counted)"
            findings.append(
                program.hookedCount > 0
                    ? Finding("library", .ok, text)
                    : Finding("library", .limited, text, remedy: "build it with fathom build"))
        } else if let refusal = program.refusal {
            findings.append(Finding("program", program.detours.map { $0.fit > 0 } ?? false ? .limited : .no, refusal))
        } else {
            findings.append(
                Finding(
                    "program", .ok,
                    "\(program.path): can be recorded; \(counted)"))
        }
        if let detours = program.detours { findings.append(withoutHooks(program.path, detours)) }
        if program.functionCount == 0 {
            // What cannot be recorded may be no program.
            if program.refusal != nil, !program.isLibrary { return findings }
            findings.append(
                Finding(
                    "symbols", .limited, "\(program.path): stripped; functions are shown as addresses",
                    remedy: "give the unstripped program or its debug information with --symbols"))
        } else if !program.hasLines {
            findings.append(
                Finding(
                    "symbols", .limited, "\(program.path): names, but no files and lines",
                    remedy: "compile with -g, as fathom build does, or give debug information with --symbols"))
        } else {
            findings.append(Finding("symbols", .ok, "\(program.path): names, files and lines"))
        }
        return findings
    }

    /// How many functions `record --any` would record, and which not, for which reasons.
    private static func withoutHooks(_ path: String, _ detours: MachineFacts.Program.Detours) -> Finding {
        if let refusal = detours.refusal { return Finding("as it is", .limited, "\(path): \(refusal)") }
        let refused = detours.refused.reduce(0) { $0 + $1.names.count }
        var text =
            "\(path): \(CountText.grouped(UInt64(detours.fit))) of \(CountText.grouped(UInt64(detours.fit + refused))) functions can be "
            + "recorded without a rebuild, by fathom record --any"
        for (reason, names) in detours.refused where !names.isEmpty {
            let shown = names.prefix(3).joined(separator: ", ")
            text += "; \(CountText.grouped(UInt64(names.count))) \(reason) (\(shown)\(names.count > 3 ? ", …" : ""))"
        }
        return Finding("as it is", .ok, text)
    }
}
