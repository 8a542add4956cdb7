internal import TraceAnalysis
public import TraceText

extension FlameGraph {
    /// Writes a page that needs nothing but itself: styles, script and data are inside. Its content security policy
    /// (https://www.w3.org/TR/CSP3) lets it load nothing, and run no script but its own.
    public func writeHTML(to writer: ByteWriter) {
        writer.write("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" as StaticString)
        let policy = "default-src 'none'; script-src '\(FlamePage.scriptSum)'; style-src '\(FlamePage.styleSum)'"
        writer.write("<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy); base-uri 'none'\">\n")
        writer.write("<meta name=\"viewport\" content=\"width=device-width\">\n<title>" as StaticString)
        writer.write(markup: options.title)
        writer.write("</title>\n<style>" as StaticString)
        writer.write(FlamePage.style)
        writer.write("</style>\n</head>\n<body>\n" as StaticString)
        writer.write(PackageResources.flame_html)
        writer.write("<script type=\"application/json\" id=\"data\">\n" as StaticString)
        writeData(to: writer)
        writer.write("\n</script>\n<script>" as StaticString)
        writer.write(FlamePage.script)
        writer.write("</script>\n</body>\n</html>\n" as StaticString)
    }

    /// Writes the data that `data.js` reads.
    private func writeData(to writer: ByteWriter) {
        let colouring = isDifferential ? "change" : options.colouring.rawValue
        writer.write("{\"inverted\":\(options.isInverted),\"colour\":\"\(colouring)\",\"total\":\(total),")
        if names.countsSamples { writer.write("\"samples\":true," as StaticString) }
        switch options.unit {
        case .time: break
        case .bytes: writer.write("\"bytes\":true," as StaticString)
        case .faults: writer.write("\"faults\":true," as StaticString)
        }
        writer.write("\n" as StaticString)
        writer.write("\"names\":" as StaticString)
        list(functions, writer) { writer.write(embedded: names[$0].name) }
        writer.write(",\n\"labels\":" as StaticString)
        list(functions, writer) { function in
            let name = names[function].name
            let label = FlameLabel.folded(name)
            if label == name { writer.write("0" as StaticString) } else { writer.write(embedded: label) }
        }
        writer.write(",\n\"lines\":" as StaticString)
        list(functions, writer) { function in
            let place = names[function]
            writer.write(decimal: UInt64(place.file == nil ? 0 : max(place.line, 0)))
        }
        writer.write(",\n\"shades\":" as StaticString)
        list(shades, writer) { writer.write(decimal: UInt64($0)) }
        writer.write(",\n\"noFile\":" as StaticString)
        writer.write(embedded: FlameGroups.noFile)
        writer.write(",\n\"groups\":{" as StaticString)
        for (index, grouping) in Colouring.groupings.enumerated() {
            guard let groups = groups[grouping] else { continue }
            writer.write("\(index > 0 ? ",\n" : "")\"\(grouping.rawValue)\":{\"names\":")
            list(groups.names, writer) { writer.write(embedded: $0) }
            writer.write(",\"of\":" as StaticString)
            list(groups.of, writer) { writer.write(decimal: UInt64($0)) }
            writer.write("}" as StaticString)
        }
        writer.write("},\n\"ownTimeSteps\":" as StaticString)
        list(ownTimeSteps, writer) { writer.write(decimal: $0) }
        writer.write(",\n\"palette\":{\"light\":" as StaticString)
        writePalette(isDark: false, to: writer)
        writer.write(",\n\"dark\":" as StaticString)
        writePalette(isDark: true, to: writer)
        writer.write("}" as StaticString)
        if let timeline { write(timeline, to: writer) }
        writer.write(",\n\"frames\":" as StaticString)
        list(frames, writer) { frame in
            if frame.function < numbers.count {
                writer.write(decimal: UInt64(numbers[Int(frame.function)]))
            } else {
                writer.write("-\(band(of: frame).map { 3 + $0 } ?? 1)")
            }
            for number in [UInt64(frame.depth), frame.calls, frame.start, frame.total, frame.selfTime] {
                writer.write(byte: UInt8(ascii: ","))
                writer.write(decimal: number)
            }
        }
        if isDifferential { writeChanges(to: writer) }
        writer.write("}" as StaticString)
    }

    /// Every colour with that of its border.
    private func writePalette(isDark: Bool, to writer: ByteWriter) {
        func write(_ colours: [FlameColour]) {
            list(colours, writer) { writer.write("[\"\($0.css)\",\"\($0.edge.css)\"]") }
        }
        let groupCount = min(groups.values.map(\.names.count).max() ?? 0, FlamePalette.groupCount)
        writer.write("{\"groups\":" as StaticString)
        list(Array(0..<groupCount), writer) { group in
            write((0..<FlamePalette.shadeCount).map { FlamePalette.colour(group: group, shade: $0, isDark: isDark) })
        }
        let steps = FlamePalette.stepCount
        writer.write(",\"self\":" as StaticString)
        write((0...steps).map { FlamePalette.colour(ownTime: $0, isDark: isDark) })
        writer.write(",\"change\":" as StaticString)
        write((-steps...steps).map { FlamePalette.colour(change: $0, isDark: isDark) })
        let (plain, matched) = (FlamePalette.plain(isDark: isDark), FlamePalette.matched(isDark: isDark))
        writer.write(",\"plain\":[\"\(plain.css)\",\"\(plain.edge.css)\"]")
        writer.write(",\"matched\":[\"\(matched.css)\",\"\(matched.edge.css)\"]")
        writer.write(",\"counter\":\"\(FlamePalette.counter(isDark: isDark).css)\"")
        writer.write(",\"ink\":\"\(FlamePalette.ink(isDark: isDark).css)\"}")
    }

    private func write(_ timeline: FlameTimeline, to writer: ByteWriter) {
        let began = options.began &+ timeline.origin
        writer.write(",\n\"time\":{\"origin\":\(timeline.origin)")
        writer.write(",\"began\":[\(began / 1_000_000_000),\(began % 1_000_000_000)]")
        var texts: [String] = []
        var numbers: [String: Int] = [:]
        func number(_ text: String?) -> Int {
            guard let text else { return -1 }
            if let known = numbers[text] { return known }
            numbers[text] = texts.count
            texts.append(text)
            return texts.count - 1
        }
        writer.write(",\"bands\":" as StaticString)
        list(timeline.bands, writer) { band in
            writer.write("{\"name\":" as StaticString)
            writer.write(embedded: band.name)
            writer.write(",\"marks\":" as StaticString)
            list(band.marks, writer) { mark in
                writer.write("[\(mark.moment),")
                writer.write(embedded: mark.name)
                writer.write("]" as StaticString)
            }
            writer.write(",\"counters\":" as StaticString)
            list(band.counters, writer) { counter in
                writer.write("{\"name\":" as StaticString)
                writer.write(embedded: counter.name)
                writer.write(",\"points\":" as StaticString)
                list(counter.points, writer) { writer.write("\($0.moment),\($0.value.json)") }
                writer.write("}" as StaticString)
            }
            if !band.states.isEmpty {
                writer.write(",\"states\":" as StaticString)
                list(band.states, writer) { state in
                    writer.write("\(state.begin),\(state.length),\(state.wantsCPU ? 1 : 0),\(number(state.text)),")
                    writer.write("\(state.waker?.band ?? -1),\(state.waker?.moment ?? 0),\(number(state.waker?.path))")
                }
            }
            writer.write("}" as StaticString)
        }
        if !texts.isEmpty {
            writer.write(",\"texts\":" as StaticString)
            list(texts, writer) { writer.write(embedded: $0) }
        }
        writer.write("}" as StaticString)
    }

    func list<Element>(_ elements: [Element], _ writer: ByteWriter, _ write: (Element) -> Void) {
        writer.write(byte: UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { writer.write(byte: UInt8(ascii: ",")) }
            write(element)
        }
        writer.write(byte: UInt8(ascii: "]"))
    }
}

extension ByteWriter {
    /// Writes `text` as a JSON string that may stand inside a script element and a CDATA section, because it ends
    /// neither.
    func write(embedded text: String) {
        for byte in ByteWriter.bytes({ $0.write(json: text) }) {
            switch byte {
            case UInt8(ascii: "<"): write("\\u003c" as StaticString)
            case UInt8(ascii: ">"): write("\\u003e" as StaticString)
            default: write(byte: byte)
            }
        }
    }

    /// Writes `text`, and escapes what means something in HTML and SVG.
    func write(markup text: String) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): write("&amp;" as StaticString)
            case UInt8(ascii: "<"): write("&lt;" as StaticString)
            case UInt8(ascii: ">"): write("&gt;" as StaticString)
            case UInt8(ascii: "\""): write("&quot;" as StaticString)
            case 0..<0x20: write(byte: UInt8(ascii: " "))
            default: write(byte: byte)
            }
        }
    }
}
