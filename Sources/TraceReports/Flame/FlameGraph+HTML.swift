internal import TraceAnalysis
public import TraceText

extension FlameGraph {
    /// Writes a page that needs nothing but itself: styles, script and data are inside.
    public func writeHTML(to writer: ByteWriter) {
        writer.write("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n" as StaticString)
        writer.write("<meta name=\"viewport\" content=\"width=device-width\">\n<title>" as StaticString)
        writer.write(markup: options.title)
        writer.write("</title>\n<style>\n" as StaticString)
        writer.write(PackageResources.flame_css)
        writer.write("</style>\n</head>\n<body>\n" as StaticString)
        writer.write(PackageResources.flame_html)
        writer.write("<script type=\"application/json\" id=\"data\">\n" as StaticString)
        writeData(to: writer)
        writer.write("\n</script>\n<script>\n" as StaticString)
        writer.write(PackageResources.model_js)
        writer.write(PackageResources.colours_js)
        writer.write(PackageResources.canvas_js)
        writer.write(PackageResources.page_js)
        writer.write("</script>\n</body>\n</html>\n" as StaticString)
    }

    /// The data that `model.js` and `colours.js` read.
    private func writeData(to writer: ByteWriter) {
        writer.write(
            "{\"inverted\":\(options.isInverted),\"colour\":\"\(isDifferential ? "change" : options.colouring.rawValue)\",\n"
        )
        writer.write("\"order\":\"\(isTimeOrder ? "time" : "paths")\",\n")
        writer.write("\"names\":" as StaticString)
        list(functions, writer) { writer.write(embedded: names[$0].name) }
        writer.write(",\n\"modules\":" as StaticString)
        list(modules, writer) { writer.write(embedded: $0) }
        writer.write(",\n\"kinds\":" as StaticString)
        list(kinds, writer) { writer.write(embedded: $0) }
        writer.write(",\n\"module\":" as StaticString)
        list(moduleOf, writer) { writer.write(decimal: UInt64($0)) }
        writer.write(",\n\"kind\":" as StaticString)
        list(kindOf, writer) { writer.write(decimal: UInt64($0)) }
        writer.write(",\n\"shades\":" as StaticString)
        list(shades, writer) { writer.write(decimal: UInt64($0)) }
        writer.write(",\n\"palette\":{" as StaticString)
        writePalette(isDark: false, to: writer)
        writer.write(",\n" as StaticString)
        writePalette(isDark: true, to: writer)
        writer.write("},\n\"total\":" as StaticString)
        writer.write(decimal: total)
        writer.write(",\n\"frames\":" as StaticString)
        list(frames, writer) { frame in
            if frame.function == FlameGraph.summed {
                writer.write("-1" as StaticString)
            } else {
                writer.write(decimal: UInt64(numbers[Int(frame.function)]))
            }
            for number in [UInt64(frame.depth), frame.calls, frame.start, frame.total, frame.selfTime] {
                writer.write(byte: UInt8(ascii: ","))
                writer.write(decimal: number)
            }
        }
        if isDifferential { writeChanges(to: writer) }
        writer.write("}" as StaticString)
    }

    private func writePalette(isDark: Bool, to writer: ByteWriter) {
        writer.write(isDark ? "\"dark\":" : "\"light\":" as StaticString)
        list(Array(0..<max(modules.count, kinds.count)), writer) { group in
            list(Array(0..<FlamePalette.shadeCount), writer) { shade in
                writer.write(embedded: FlamePalette.colour(group: group, shade: shade, isDark: isDark))
            }
        }
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
        var escaped: [UInt8] = []
        let piece = ByteWriter { bytes in
            escaped.append(contentsOf: bytes)
            return true
        }
        piece.write(json: text)
        piece.flush()
        for byte in escaped {
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
