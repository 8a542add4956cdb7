internal import TraceAnalysis
internal import TraceFile
internal import TraceFindings
internal import TraceText

extension StartupReport {
    /// Of several runs, the phases are those of the run whose total is the median, and the times of initialisers are
    /// medians over the runs.
    func writeJSON(to writer: ByteWriter) {
        let startup = shown.startup
        writer.write("{\"total_ns\":\(startup.total),\"complete\":\(startup.incompleteness == nil),\"end\":")
        writer.write(json: startup.end)
        if let reason = startup.incompleteness {
            writer.write(",\"incomplete\":" as StaticString)
            writer.write(json: reason)
        }
        writer.write(",\"pre_main_ns\":\(Self.number(startup.preMain)),\n\"phases\":")
        list(startup.phases, writer) { phase in
            writer.write("{\"name\":" as StaticString)
            writer.write(json: phase.name)
            writer.write(
                ",\"ns\":\(phase.nanoseconds),\"begin_ns\":\(phase.begin - startup.timeline.begin)"
                    + ",\"running_ns\":\(Self.number(phase.running)),\"blocked_ns\":\(Self.number(phase.offCPU?.blocked))"
                    + ",\"runnable_ns\":\(Self.number(phase.offCPU?.runnable))"
                    + ",\"minor_faults\":\(Self.number(phase.minorFaults)),\"major_faults\":\(Self.number(phase.majorFaults))}"
            )
        }
        writer.write(",\n\"initializers\":" as StaticString)
        list(slowest, writer) { initializer in
            writer.write("{\"module\":" as StaticString)
            writer.write(json: initializer.module)
            writer.write(",\"function\":" as StaticString)
            writer.write(json: initializer.function)
            writer.write(
                ",\"ns\":\(initializer.nanoseconds),\"begin_ns\":\(initializer.begin - min(initializer.begin, startup.timeline.begin))"
            )
            writer.write(
                ",\"minor_faults\":\(initializer.minorFaults),\"major_faults\":\(initializer.majorFaults),\"file\":")
            writer.write(json: initializer.file)
            writer.write("}" as StaticString)
        }
        writer.write(",\n\"libraries\":" as StaticString)
        list(startup.libraries, writer) { library in
            writer.write("{\"path\":" as StaticString)
            writer.write(json: library.path)
            writer.write(
                ",\"system\":\(library.isSystem),\"recording\":\(library.isOurs),\"unused\":\(library.isUnused)"
                    + ",\"mapping_ns\":\(Self.number(library.mapping)),\"relocation_ns\":\(Self.number(library.relocation))"
                    + ",\"relocations\":\(Self.number(library.relocations?.total))}")
        }
        let relocations = startup.relocations.map { numbers in
            "{\"relative\":\(numbers.relative),\"symbols\":\(numbers.symbols),\"calls\":\(numbers.calls)"
                + ",\"indirect\":\(numbers.indirect),\"copies\":\(numbers.copies),\"thread_local\":\(numbers.threadLocal)"
                + ",\"other\":\(numbers.other)}"
        }
        writer.write(
            ",\n\"relocations\":\(relocations ?? "null"),\n\"read_bytes\":\(Self.number(startup.bytesRead))")
        writer.write(",\"major_faults\":\(Self.number(startup.majorFaults)),\n\"advice\":")
        let advice = StartupAdviceText(startup, functions: shown.functions)
        list(startup.advice, writer) { piece in
            writer.write("{\"gain_ns\":\(piece.gain),\"kind\":\"\(piece.kind.name)\",\"text\":")
            writer.write(json: advice.lines(piece).joined(separator: "\n"))
            writer.write("}" as StaticString)
        }
        writer.write(",\n\"gaps\":" as StaticString)
        list(startup.gaps, writer) { writer.write(json: $0) }
        if runs.count > 1 { writeRuns(to: writer) }
        if let cold {
            writer.write(",\n\"cold\":" as StaticString)
            writer.write(json: cold)
        }
        if let plan = options.plan {
            writer.write(",\n\"plan\":" as StaticString)
            plan(statistics.median).writeJSON(to: writer)
        }
        writer.write("}\n" as StaticString)
    }

    private func writeRuns(to writer: ByteWriter) {
        func numbers(_ numbers: StartupRuns.Numbers) -> String {
            "\"p50_ns\":\(numbers.p50),\"p90_ns\":\(numbers.p90),\"min_ns\":\(numbers.least),\"max_ns\":\(numbers.most)"
                + ",\"spread_ns\":\(numbers.spread)"
        }
        writer.write(",\n\"statistics\":{\"runs\":\(runs.count),\(numbers(statistics.total)),\"phases\":")
        list(statistics.phases, writer) { phase in
            writer.write("{\"name\":" as StaticString)
            writer.write(json: phase.parts.map(\.name).joined(separator: " + "))
            writer.write(",\(numbers(phase.numbers))}")
        }
        writer.write("},\n\"runs\":" as StaticString)
        list(statistics.coldestFirst, writer) { index in
            let run = runs[index].startup
            writer.write(
                "{\"run\":\(index + 1),\"total_ns\":\(run.total),\"major_faults\":\(Self.number(run.majorFaults))"
                    + ",\"complete\":\(run.incompleteness == nil)}")
        }
    }

    private static func number(_ value: UInt64?) -> String { value.map { "\($0)" } ?? "null" }

    private func list<Elements: Sequence>(
        _ elements: Elements, _ writer: ByteWriter, _ write: (Elements.Element) -> Void
    ) {
        writer.write("[" as StaticString)
        for (index, element) in elements.enumerated() {
            writer.write(index == 0 ? "\n" : ",\n" as StaticString)
            write(element)
        }
        writer.write("]" as StaticString)
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
