internal import TraceAnalysis
public import TraceFile
public import TraceText

/// Tells everything about a recording except its calls.
public struct InfoReport {
    private let writer: ByteWriter
    private let session: Session
    private let showsModules: Bool
    private let checksPayloads: Bool
    private let layout: TextLayout

    /// - Parameters:
    ///   - checksPayloads: whether all payloads are read to tell of damage in them. Otherwise the report comes at once, and
    ///     tells of damage in headers and metadata, which it is made from.
    ///   - layout: of the text.
    public init(
        _ writer: ByteWriter, session: Session, showsModules: Bool, checksPayloads: Bool,
        layout: TextLayout = TextLayout()
    ) {
        self.writer = writer
        self.session = session
        self.showsModules = showsModules
        self.checksPayloads = checksPayloads
        self.layout = layout
    }

    public func write(_ format: ReportFormat) {
        switch format {
        case .text: writeText()
        case .json: writeJSON()
        }
    }

    /// Calls, bytes and the time from start to the last moment known, of the whole session.
    private func totals() -> (calls: UInt64, bytes: Int, duration: UInt64, tracer: UInt64, threads: Int) {
        var totals = (calls: UInt64(0), bytes: 0, duration: UInt64(0), tracer: UInt64(0), threads: 0)
        for process in session.processes {
            for thread in process.threads {
                totals.calls &+= thread.countCalls()
                totals.bytes += thread.bytes
                totals.tracer &+= session.clock.nanoseconds(in: thread.tracerTicks)
                totals.threads += 1
                totals.duration = max(totals.duration, session.clock.nanoseconds(at: thread.lastTicks()))
            }
        }
        return totals
    }

    /// The damage that is known when everything else has been told. What headers tell is handed out before all payloads
    /// are checked, because that takes seconds for a long log.
    private func findDamage() -> [Damage] {
        if checksPayloads {
            writer.flush()
            PayloadCheck.run(session)
        }
        return session.damage.entries
    }

    private func damageText(_ damage: [Damage]) -> String {
        let found = damage.isEmpty ? "none" : "\(damage.count)"
        return checksPayloads ? found : found + " in headers and metadata; --check looks at the calls, too"
    }

    private func endText(_ process: TracedProcess) -> String {
        switch process.end {
        case .exit: "exited"
        case .waited(let status):
            WaitStatus(status).text
                + (process.isConfined ? "; recorded until it confined itself (seccomp, PR_SET_TSC)" : "")
        case .confined: "not recorded any more: it confined itself (seccomp, PR_SET_TSC)"
        case .saved: "went on after this was saved"
        case .detached: "went on after fathom had detached"
        case .exec: "replaced itself by exec"
        case .unknown: session.isRecording ? "running or killed" : "killed, or ended without a word"
        }
    }

    private func writeMissed() {
        guard !session.missed.isEmpty else { return }
        row("not recorded", count(UInt64(session.missed.count), "program") + " with hooks")
        for missed in session.missed {
            line("  ", "process \(missed.pid) \(missed.path.visible): \(reason(missed))")
        }
    }

    private func reason(_ missed: MissedProgram) -> String {
        switch missed.reason {
        case .isStatic: "statically linked without the runtime"
        case .foreign: "made for another C library or machine"
        case .privileged: "set-uid or set-gid"
        case .noAccess: "its process could not open the session: other rights, or another root directory"
        case nil: "unknown"
        }
    }

    private func origin(_ process: TracedProcess) -> String {
        guard process.origin == .fork else { return "started by \(process.parentPID)" }
        // Processes that made no calls may be between the two. Older recordings give 1 as the parent, which is who
        // adopts orphans.
        guard let parent = process.forkParent?.pid, parent != process.parentPID else {
            return "forked from \(process.parentPID)"
        }
        return "forked from \(parent)" + (process.parentPID > 1 ? " by way of \(process.parentPID)" : "")
    }

    /// How many call paths there are.
    private var paths: UInt64 {
        session.processes.lazy.flatMap(\.threads).reduce(0) { $0 &+ $1.pathTotals.paths }
    }

    /// Why calls were not recorded.
    private var lossReason: String {
        guard let most = session.description?.option(.maxPaths).flatMap(UInt64.init), paths >= most else {
            return session.losses.reason
        }
        return "their threads had begun when all call paths that --max-paths allows were taken"
    }

    private var pathsText: String {
        let threads = session.processes.flatMap(\.threads)
        let folded = threads.reduce(0) { $0 &+ $1.pathTotals.folded }
        if case .samples(let period) = session.content {
            let samples = threads.reduce(0) { $0 &+ $1.outermostCalls }
            return
                "\(count(paths, "stack")) of \(count(samples, "sample")), which stand for \(String(time: period)) each"
        }
        let kept = session.content == .counts ? "counted" : "added up"
        return "\(count(paths, "call path")), whose calls were \(kept)"
            + (folded > 0
                ? "; \(count(folded, "call")) counted with the nearest caller that has a path, because of --max-paths"
                : "")
    }

    /// As text for people.
    private func writeText() {
        let totals = totals()
        let description = session.description
        row("session", session.path)
        if let description {
            row("command", CommandText.line(description.command))
            row("directory", description.directory ?? "unknown")
            row("host", [description.host, description.kernel].compactMap { $0 }.joined(separator: ", "))
            row("cpu", description.cpu ?? "unknown")
            row("recorded by", "fathom \(description.fathom ?? "?")")
            let options = description.options.filter { $0.value != "null" }
            if let reason = description.reason { row("saved", "because \(reason)") }
            row("options", options.map { "\($0.name)=\($0.value)" }.joined(separator: " "))
        }
        let start = description?.startRealtimeNanoseconds ?? session.startRealtimeNanoseconds
        if start > 0 { row("start", DateText.utc(secondsSinceEpoch: start / 1_000_000_000)) }
        row("duration", String(time: totals.duration))
        let megahertz = (session.clock.frequency / 1e4).rounded() / 100
        row("clock", session.clockIsCounter ? "CPU counter, \(megahertz) MHz" : "CLOCK_MONOTONIC")
        row("calls", CountText.grouped(totals.calls))
        if session.content != .calls, session.content != .firstCalls { row("paths", pathsText) }
        row("log", count(UInt64(session.logSize), "byte"))
        row("buffers", count(UInt64(session.buffersSize), "byte"))
        let cut = session.processes.reduce(0) { $0 + $1.threads.count { $0.isCut } }
        if cut > 0 { row("kept", "the newest calls of \(count(UInt64(cut), "thread")); older ones were written over") }
        if totals.calls > 0 {
            row("per call", "\(tenths(Double(totals.bytes) / Double(totals.calls))) bytes")
        }
        if totals.tracer > 0 {
            row("tracer", "\(String(time: totals.tracer)) at chunk switches, taken out of all times")
        }
        if let baseline = description?.baseline {
            let (plain, traced) = (String(time: baseline.plain.total), String(time: baseline.traced.total))
            row("baseline", "\(plain) of CPU without recording, \(traced) with it")
        }
        if let sources = description?.waitSources { row("waiting", InfoReport.text(sources)) }
        if session.tellsMemory {
            let unseen = session.processes.count { $0.hidesMemory }
            row(
                "memory",
                unseen == 0 ? "recorded" : "recorded, but not of \(unseen) processes with an allocator of their own")
        }
        if let source = description?.faultSource { row("page faults", text(source)) }
        if let source = description?.option(.syscalls).flatMap(RecordOptions.SystemCallSource.init) {
            row(
                "system calls",
                source == .kernel
                    ? (session.losses.lacksSystemCalls ? "" : "all, ") + "told by the kernel"
                    : "those that programs asked the C library for by name")
        }
        if session.losses.lacksSystemCalls {
            row("lost", "some system calls, because they came faster than they were read", .red)
        }
        if let switches = session.switches, switches.lost > 0 {
            row("lost", count(switches.lost, "context switch", "context switches"), .red)
        }
        if let switches = session.switches, switches.lostWakings > 0 {
            row("lost", count(switches.lostWakings, "waking") + ", of this or other programs", .red)
        }
        if let faults = session.faults, faults.lost > 0 { row("lost", count(faults.lost, "page fault"), .red) }
        if session.losses.leftOutCalls > 0 {
            row("left out", count(session.losses.leftOutCalls, "call") + ", by the options")
        }
        if session.lostCalls > 0 {
            row("lost", count(session.lostCalls, "call") + " not recorded: \(lossReason)", .red)
        }
        row(
            "processes",
            "\(CountText.grouped(UInt64(session.processes.count))), threads \(CountText.grouped(UInt64(totals.threads)))"
        )
        writeMissed()
        for process in session.processes { writeText(process) }
        let damage = findDamage()
        row("damage", damageText(damage), damage.isEmpty ? nil : .red)
        for damage in damage { line("  ", damage.description) }
    }

    /// How it was found out when threads waited.
    private static func text(_ sources: WaitSources) -> String {
        if !sources.tellsCauses, !sources.hasSwitches {
            return "when is known from processor times, where it took 0.2 ms or more; for what is not"
        }
        if sources.hasWakings { return "known from the kernel's context switches and wakings" }
        if sources.hasSwitches {
            let why = sources.wakingRefusal.map { "; not from its wakings: \($0)" } ?? ""
            return "known from the kernel's context switches" + why
        }
        return "known from calls of the C library alone, because the kernel does not tell of context switches: "
            + (sources.refusal ?? "it was not asked")
    }

    /// How many page faults the kernel told of.
    private func text(_ source: FaultSource) -> String {
        guard source.isTold else {
            return "not known, because the kernel does not tell of them: " + (source.refusal ?? "it was not asked")
        }
        return CountText.grouped(session.faults?.count ?? 0) + " told by the kernel, "
            + (source.seesSystemCalls ? "also those within system calls" : "without those within system calls")
    }

    private func writeText(_ process: TracedProcess) {
        guard !process.metadataIsLost else {
            heading("process \(process.pid), metadata lost")
            for thread in process.threads { writeText(thread) }
            return
        }
        heading("process \(process.pid) \(process.path.visible), \(origin(process))")
        line("  command    ", CommandText.line(process.arguments))
        if let title = process.title { line("  title      ", title.visible) }
        line("  end        ", endText(process))
        for thread in process.threads { writeText(thread) }
        for (kind, label) in Self.nameKinds {
            let names = names(of: process, kind)
            if !names.isEmpty { line("  \(label)", names.joined(separator: ", ")) }
        }
        line("  modules    ", "\(process.modules.count)")
        for module in process.modules where module.isUnselected {
            let detours = session.description?.option(.any) == nil ? "" : "they have no detours, and "
            let reason = "its functions were not known in time, so \(detours)options by name do not hold for them"
            line("  unselected ", "\(module.path.visible): \(reason)")
        }
        // A library may have been loaded more than once.
        var said: Set<String> = []
        for module in process.modules {
            let sleds = module.sleds.map { SledsText.line($0, of: module.path) }
            let detours = module.detours.map { DetoursText.line($0, of: module.path) }
            if let sleds, said.insert(sleds).inserted { line("  sleds      ", sleds) }
            if let detours, said.insert(detours).inserted { line("  detours    ", detours) }
        }
        guard showsModules else { return }
        for module in process.modules {
            let place = "0x\(String(module.low, radix: 16))-0x\(String(module.high, radix: 16))"
            let unloaded = module.unloadTicks == .max ? "" : " (unloaded)"
            line("    ", "\(place) \(module.path.visible) build-id \(hexadecimal(module.buildID))\(unloaded)")
        }
    }

    private static let nameKinds: [(GivenName.Kind, String)] = [
        (.scope, "scopes     "), (.mark, "marks      "), (.counter, "counters   "),
    ]

    private func names(of process: TracedProcess, _ kind: GivenName.Kind) -> [String] {
        process.names.values.filter { $0.kind == kind }.map(\.text).sorted()
    }

    private func writeText(_ thread: TracedThread) {
        var text = "\(thread.tid)"
        if !thread.name.isEmpty { text += " (\(thread.name))" }
        text += ", " + count(thread.countCalls(), "call")
        text += ", " + count(UInt64(thread.bytes), "byte") + " in " + count(UInt64(thread.chunks.count), "chunk")
        if thread.lostCalls > 0 { text += ", " + count(thread.lostCalls, "call") + " lost" }
        if thread.orphanExits > 0 { text += ", " + count(thread.orphanExits, "exit") + " without a call" }
        line("  thread     ", text)
    }

    private func row(_ name: String, _ value: String, _ style: TextStyle? = nil) {
        guard !value.isEmpty else { return }
        line(name + String(repeating: " ", count: 13 - name.utf8.count), value.visible, style)
    }

    /// Writes a line. Where lines have a width, a text that is longer continues on the next line, indented.
    private func line(_ lead: String, _ text: String, _ style: TextStyle? = nil) {
        writer.write(lead)
        writer.write(in: layout.style(style)) {
            writer.write(layout.width.map { text.wrapped(to: $0, indentation: lead.utf8.count) } ?? text)
        }
        writer.write(byte: UInt8(ascii: "\n"))
    }

    private func heading(_ text: String) {
        writer.write(byte: UInt8(ascii: "\n"))
        line("", text, .bold)
    }

    private func count(_ number: UInt64, _ noun: String, _ many: String? = nil) -> String {
        CountText.counted(number, noun, many)
    }

    private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "none" : bytes.hexadecimal
    }

    /// As one JSON object.
    private func writeJSON() {
        let totals = totals()
        let description = session.description
        let json = writer.json
        json.document {
            json.field("session", session.path)
            json.field("command", description?.command ?? [])
            json.field("directory", description?.directory)
            json.field("host", description?.host)
            json.field("kernel", description?.kernel)
            json.field("cpu", description?.cpu)
            json.field("fathom", description?.fathom)
            json.object("options") {
                for option in description?.options ?? [] {
                    json.name(of: option.name)
                    // Numbers, truth values and null are written as they are in session.json.
                    if option.isBare { json.value(raw: option.value) } else { json.value(option.value) }
                }
            }
            json.field(
                "start_realtime_ns", description?.startRealtimeNanoseconds ?? session.startRealtimeNanoseconds)
            json.field("duration_ns", totals.duration)
            json.field("tracer_ns", totals.tracer)
            json.field("clock", session.clockIsCounter ? "counter" : "monotonic")
            json.field("ticks_per_second", UInt64(exactly: session.clock.frequency.rounded()) ?? 0)
            json.field("calls", totals.calls)
            json.field("log_bytes", session.logSize)
            json.field("buffers_bytes", session.buffersSize)
            json.field("lost_calls", session.lostCalls)
            json.field("unplaced_calls", session.losses.unplacedCalls)
            json.field("unwritten_calls", session.losses.unwrittenCalls)
            json.field("left_out_calls", session.losses.leftOutCalls)
            if let source = description?.option(.syscalls) {
                json.object("system_calls") {
                    json.field("source", source)
                    json.field("are_lost", session.losses.lacksSystemCalls)
                }
            }
            if let sources = description?.waitSources {
                json.object("blocked") {
                    json.field("context_switches", sources.hasSwitches)
                    json.field("causes", sources.tellsCauses)
                    json.field("refused", sources.refusal)
                    json.field("wakings", sources.hasWakings)
                    json.field("wakings_refused", sources.wakingRefusal)
                    json.field("lost_switches", session.switches?.lost ?? 0)
                    json.field("lost_wakings", session.switches?.lostWakings ?? 0)
                }
            }
            if session.tellsMemory {
                json.object("memory") {
                    json.field("unseen_processes", session.processes.count { $0.hidesMemory })
                }
            }
            if let source = description?.faultSource {
                json.object("faults") {
                    json.field("told", session.faults?.count ?? 0)
                    json.field("lost", session.faults?.lost ?? 0)
                    json.field("in_system_calls", source.seesSystemCalls)
                    json.field("refused", source.refusal)
                }
            }
            json.objects("processes", session.processes, .allButFirst) { writeFields(of: $0, json) }
            json.field("not_recorded", session.missed.map(\.path))
            json.field("damage", findDamage().map(\.description))
            json.field("checked", checksPayloads ? "all" : "headers")
        }
    }

    private func writeFields(of process: TracedProcess, _ json: JSONWriter) {
        json.field("pid", process.pid)
        json.field("parent_pid", process.parentPID)
        json.field("origin", process.origin == .fork ? "fork" : "image")
        json.field("path", process.path)
        json.fields(called: process)
        let end: String? =
            switch process.end {
            case .exit: "exit"
            case .exec: "exec"
            case .saved: "saved"
            case .detached: "detached"
            case .confined: "confined"
            case .waited(let status): WaitStatus(status).signal ?? "exit"
            case .unknown: nil
            }
        json.field("end", end)
        if case .waited(let status) = process.end, case let status = WaitStatus(status), status.signal == nil {
            json.field("exit_status", status.exitStatus)
        }
        if process.isConfined { json.field("confined", true) }
        json.field("scopes", names(of: process, .scope))
        json.field("marks", names(of: process, .mark))
        json.field("counters", names(of: process, .counter))
        json.objects("threads", process.threads) { thread in
            json.field("tid", thread.tid)
            json.field("name", thread.name)
            json.field("calls", thread.countCalls())
            json.field("bytes", thread.bytes)
            json.field("chunks", thread.chunks.count)
            json.field("lost_calls", thread.lostCalls)
            json.field("orphan_exits", thread.orphanExits)
        }
        let unselected = process.modules.filter(\.isUnselected)
        if !unselected.isEmpty { json.field("unselected", unselected.map(\.path)) }
        let withSleds = process.modules.compactMap { module in module.sleds.map { (module.path, $0) } }
        if !withSleds.isEmpty {
            json.objects("sleds", withSleds) { path, sleds in
                json.field("path", path)
                json.field("functions", sleds.functions)
                json.field("open", sleds.open)
                json.field("unwanted", sleds.unwanted)
                json.field("small", sleds.small)
                json.field("busy", sleds.busy)
                json.field("unknown", sleds.unknown)
                json.field("looping", sleds.looping)
                json.field("errno", max(0, sleds.error))
            }
        }
        let withDetours = process.modules.compactMap { module in module.detours.map { (module.path, $0) } }
        if !withDetours.isEmpty {
            json.objects("detours", withDetours) { path, detours in
                json.field("path", path)
                json.field("asked", detours.asked)
                json.field("open", detours.open)
                json.field("busy", detours.busy)
            }
        }
        guard showsModules else { return }
        json.objects("modules", process.modules) { module in
            json.field("path", module.path)
            json.field("build_id", hexadecimal(module.buildID))
            json.field("low", hexadecimal: module.low)
            json.field("high", hexadecimal: module.high)
            if module.unloadTicks != .max { json.field("unloaded", true) }
        }
    }
}
