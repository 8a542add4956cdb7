internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceText

extension StartupReport {
    /// Of several runs, the phases are those of the run whose total is the median, and the times of initializers are
    /// medians over the runs.
    func writeJSON(to writer: ByteWriter) {
        let startup = shown.startup
        let json = writer.json
        json.document {
            json.field("total_ns", startup.total)
            json.field("complete", startup.incompleteness == nil)
            json.field("end", startup.end)
            if let reason = startup.incompleteness { json.field("incomplete", reason) }
            json.field("pre_main_ns", startup.preMain)
            json.line().objects("phases", startup.phases, .each) { phase in
                json.field("name", phase.name)
                json.field("ns", phase.nanoseconds)
                json.field("begin_ns", phase.begin - startup.timeline.begin)
                json.field("running_ns", phase.running)
                json.field("blocked_ns", phase.offCPU?.blocked)
                json.field("runnable_ns", phase.offCPU?.runnable)
                json.field("minor_faults", phase.minorFaults)
                json.field("major_faults", phase.majorFaults)
            }
            json.line().objects("initializers", slowest, .each) { initializer in
                json.field("module", initializer.module)
                json.field("function", initializer.function)
                json.field("ns", initializer.nanoseconds)
                json.field("begin_ns", initializer.begin - min(initializer.begin, startup.timeline.begin))
                json.field("minor_faults", initializer.minorFaults)
                json.field("major_faults", initializer.majorFaults)
                json.field("file", initializer.file)
            }
            json.line().objects("libraries", startup.libraries, .each) { library in
                json.field("path", library.path)
                json.field("system", library.isSystem)
                json.field("recording", library.isOurs)
                json.field("unused", library.isUnused)
                json.field("mapping_ns", library.mapping)
                json.field("relocation_ns", library.relocation)
                json.field("relocations", library.relocations?.total)
            }
            json.line().name("relocations")
            if let numbers = startup.relocations {
                json.object {
                    json.field("relative", numbers.relative)
                    json.field("symbols", numbers.symbols)
                    json.field("calls", numbers.calls)
                    json.field("indirect", numbers.indirect)
                    json.field("copies", numbers.copies)
                    json.field("thread_local", numbers.threadLocal)
                    json.field("other", numbers.other)
                }
            } else {
                json.null()
            }
            json.line().field("read_bytes", startup.bytesRead)
            json.field("major_faults", startup.majorFaults)
            let advice = StartupAdviceText(startup, functions: shown.functions)
            json.line().objects("advice", startup.advice, .each) { piece in
                json.field("gain_ns", piece.gain)
                json.field("kind", piece.kind.name)
                json.field("text", advice.lines(piece).joined(separator: "\n"))
            }
            json.line().array("gaps", startup.gaps, .each) { json.value($0) }
            if runs.count > 1 { writeRuns(json) }
            if let cold { json.line().field("cold", cold) }
            if let plan = options.plan {
                json.line().object("plan") { plan(statistics.median).writeFields(json) }
            }
        }
    }

    private func writeRuns(_ json: JSONWriter) {
        func write(_ numbers: StartupRuns.Numbers) {
            json.field("p50_ns", numbers.p50)
            json.field("p90_ns", numbers.p90)
            json.field("min_ns", numbers.least)
            json.field("max_ns", numbers.most)
            json.field("spread_ns", numbers.spread)
        }
        json.line().object("statistics") {
            json.field("runs", runs.count)
            write(statistics.total)
            json.objects("phases", statistics.phases, .each) { phase in
                json.field("name", phase.parts.map(\.name).joined(separator: " + "))
                write(phase.numbers)
            }
        }
        json.line().objects("runs", statistics.coldestFirst, .each) { index in
            let run = runs[index].startup
            json.field("run", index + 1)
            json.field("total_ns", run.total)
            json.field("major_faults", run.majorFaults)
            json.field("complete", run.incompleteness == nil)
        }
    }
}

extension StartupAdvice.Kind {
    /// What JSON calls it.
    var name: String {
        switch self {
        case .manyLibraries: "libraries"
        case .unusedLibrary: "unused_library"
        case .initializer: "initializer"
        case .frequent: "frequent_calls"
        case .repeated: "repeated_calls"
        case .wait: "wait"
        case .deferrable: "deferrable"
        }
    }
}
