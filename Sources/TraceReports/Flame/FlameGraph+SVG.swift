internal import TraceAnalysis
internal import TracePage
public import TraceText

extension FlameGraph {
    /// Width of the picture and height of a row, in px.
    static let width = 1200.0
    static let rowHeight = 17
    /// Frames narrower than this many px are drawn together.
    private static let narrowest = 0.1
    /// Width of a letter of the font, in px.
    static let letter = 6.7

    /// Writes a picture: every frame with its name and times as a tooltip, and the marks and counters of a chart. A browser that
    /// opens the file by itself and runs scripts shows the page of ``writeHTML(to:room:)`` instead, with the frames of the picture, or
    /// the calls of a chart as far as there is room.
    public func writeSVG(to writer: ByteWriter) {
        let graph = summing(narrowerThan: FlameGraph.narrowest * Double(total) / FlameGraph.width)
        graph.writePicture(to: writer)
        writer.write("<script type=\"text/html\" id=\"page\"><![CDATA[" as StaticString)
        (timeline == nil ? graph : self).writeHTML(to: writer, room: FrozenContent.usualSize / 8)
        writer.write("]]></script>\n<script><![CDATA[\n" as StaticString)
        writer.write(ViewPage.opener)
        writer.write("]]></script>\n</svg>\n" as StaticString)
    }

    /// Writes everything but the end of the document.
    private func writePicture(to writer: ByteWriter) {
        let (places, rows) = rowsOfFrames()
        let height = (rows + 1) * FlameGraph.rowHeight + 8
        writer.write("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 \(height)\" width=\"1200\"")
        writer.write(" height=\"\(height)\" font-family=\"ui-monospace, DejaVu Sans Mono, monospace\"")
        // Without a title of the whole picture, Chromium looks for one among all frames whenever it reads a frame's.
        writer.write(" font-size=\"11\" role=\"img\">\n<title>" as StaticString)
        writer.write(markup: options.title)
        writer.write("</title>\n<style>" as StaticString)
        writeStyle(to: writer)
        // Without a rectangle of its own, the picture is transparent where no browser shows it.
        writer.write("</style>\n<rect class=\"b\" width=\"1200\" height=\"\(height)\"/>\n")
        writer.write("<text x=\"4\" y=\"\(FlameGraph.rowHeight - 4)\">")
        // Totals have room behind the title.
        let letters = Int((FlameGraph.width - 8) / FlameGraph.letter) - 48
        writer.write(markup: FlameLabel.fitted(options.title, letters: letters))
        if let totals {
            writer.write(" · total " as StaticString)
            writer.write(time: totals.before)
            writer.write(" → " as StaticString)
            writer.write(time: totals.after)
        } else if options.unit == .time {
            if timeline == nil {
                writer.write(" · total " as StaticString)
                writer.write(time: total)
            }
            if let wall = timeline == nil ? wall : total {
                writer.write(" · wall time " as StaticString)
                writer.write(time: wall)
            }
        }
        writer.write("</text>\n" as StaticString)
        let stretches = hasWaits ? waitingStretches : [:]
        if hasWaits { writer.write(FlameGraph.hatching) }
        let scale = FlameGraph.width / Double(max(total, 1))
        // The first row is the title's.
        func row(_ place: Int) -> Int { 1 + (options.isInverted ? rows - 1 - place : place) }
        var band = -1
        for (frame, place) in zip(frames, places) {
            band = self.band(of: frame) ?? band
            write(frame, scale, row: row(place), writer)
            if self.band(of: frame) == nil, let stretches = stretches[band] {
                hatch(frame, stretches, scale, row: row(place), writer)
            }
            writeName(of: frame, scale, row: row(place), writer)
            guard let band = self.band(of: frame) else { continue }
            let states = timeline?.bands[band].states ?? []
            let stateRow = place + 1
            write(states, of: frame, scale, row: row(stateRow), writer)
            for (index, counter) in (timeline?.bands[band].counters ?? []).enumerated() {
                let first = place + 1 + (states.isEmpty ? 0 : 1) + index * FlameTimeline.counterRows
                let last = first + FlameTimeline.counterRows - 1
                write(counter, scale, row: 1 + (options.isInverted ? rows - 1 - last : first), writer)
            }
        }
    }

    /// By frame, its row from the root on, and how many rows there are. The bands of a chart lie one below the other, and a band's
    /// counters between its name and its calls.
    private func rowsOfFrames() -> (places: [Int], count: Int) {
        var (base, used) = (0, 0)
        let places = frames.map { frame in
            let band = band(of: frame)
            if band != nil { base = used }
            let row = base + Int(frame.depth)
            if let band { base += timeline?.bands[band].extraRows ?? 0 }
            used = max(used, row + 1, base + Int(frame.depth) + 1)
            return row
        }
        return (places, max(used, 1))
    }

    private func writeStyle(to writer: ByteWriter) {
        var used: [String: Frame] = [:]
        for frame in frames { used[style(of: frame)] = frame }
        for isDark in [false, true] {
            let (paper, ink) = (FlamePalette.paper(isDark: isDark), FlamePalette.ink(isDark: isDark))
            writer.write(isDark ? "\n@media(prefers-color-scheme:dark){" : "text{pointer-events:none}" as StaticString)
            writer.write(".b{fill:\(paper.css)}text,.m{fill:\(ink.css)}")
            writer.write(".c{fill:\(FlamePalette.counter(isDark: isDark).css)}")
            if hasWaits {
                let waiting = FlamePalette.waiting(isDark: isDark)
                writer.write(".wf{fill:\(waiting.ground.css)}.wl{fill:\(waiting.lines.css)}")
                if !isDark { writer.write(".w{fill:url(#w);pointer-events:none}" as StaticString) }
            }
            if timeline?.bands.contains(where: { !$0.states.isEmpty }) == true {
                let colours = FlamePalette.states(isDark: isDark)
                writer.write(".s0{fill:\(colours.running.css)}.s1{fill:\(colours.blocked.css)}")
                writer.write(".s2{fill:\(colours.runnable.css)}")
            }
            for (style, frame) in used.sorted(by: { $0.key < $1.key }) {
                writer.write(".\(style){fill:\(colour(of: frame, isDark: isDark).css)}")
            }
        }
        writer.write("}" as StaticString)
    }

    /// A number of calls, or of samples.
    func counted(_ number: UInt64) -> String {
        "\(number) \(number == 1 ? String(names.counted.dropLast()) : names.counted)"
    }

    /// The name of a frame's colour.
    private func style(of frame: Frame) -> String {
        guard frame.function < numbers.count else { return "n" }
        if let change = changeStyle(of: frame) { return change }
        let number = Int(numbers[Int(frame.function)])
        return groups[colouring].map { "g\($0.of[number])-\(shades[number])" } ?? "o\(ownTimeStep(frame))"
    }

    private func colour(of frame: Frame, isDark: Bool) -> FlameColour {
        guard frame.function < numbers.count else { return FlamePalette.plain(isDark: isDark) }
        if let before = changes[frame.place] { return FlamePalette.colour(change: before.step, isDark: isDark) }
        let number = Int(numbers[Int(frame.function)])
        return groups[colouring].map {
            FlamePalette.colour(group: $0.of[number], shade: shades[number], isDark: isDark)
        } ?? FlamePalette.colour(ownTime: ownTimeStep(frame), isDark: isDark)
    }

    private func write(_ frame: Frame, _ scale: Double, row: Int, _ writer: ByteWriter) {
        let x = Double(frame.start) * scale
        let width = max(Double(frame.total) * scale, FlameGraph.narrowest)
        let seen = width > 2 ? width - 0.5 : width
        let top = row * FlameGraph.rowHeight + 4
        writer.write("<rect class=\"\(style(of: frame))\" x=\"\(FlameGraph.rounded(x))\" y=\"\(top)\"")
        writer.write(" width=\"\(FlameGraph.rounded(seen))\" height=\"\(FlameGraph.rowHeight - 1)\"><title>")
        if frame.function == FlameGraph.summed {
            writer.write("\(frame.calls) \(frame.calls == 1 ? "frame" : "frames") too narrow to show: total ")
            write(share: frame.selfTime, writer)
            return writer.write("</title></rect>\n" as StaticString)
        }
        let band = band(of: frame)
        let name = band.flatMap { timeline?.bands[$0].name } ?? names[frame.function].name
        writer.write(markup: name)
        if band == nil {
            writer.write("\n\(counted(frame.calls)), total ")
            write(share: frame.total, writer)
            writer.write(", self " as StaticString)
            write(share: frame.selfTime, writer)
            writeWaiting(of: frame, to: writer)
            writeChange(of: frame, to: writer)
        }
        writer.write("</title></rect>\n" as StaticString)
    }

    private func writeName(of frame: Frame, _ scale: Double, row: Int, _ writer: ByteWriter) {
        guard frame.function != FlameGraph.summed else { return }
        let (x, width) = (Double(frame.start) * scale, max(Double(frame.total) * scale, FlameGraph.narrowest))
        let top = row * FlameGraph.rowHeight + 4
        let band = band(of: frame)
        let name = band.flatMap { timeline?.bands[$0].name } ?? names[frame.function].name
        // The name of a thread stands at the left, however short the thread was there.
        let room = band == nil ? width : FlameGraph.width
        let letters = Int((room - 6) / FlameGraph.letter)
        guard letters > 2 else { return }
        let left = band == nil ? FlameGraph.rounded(x + 3) : 3
        writer.write("<text x=\"\(left)\" y=\"\(top + FlameGraph.rowHeight - 5)\">")
        writer.write(markup: FlameLabel.fitted(FlameLabel.folded(name), letters: letters))
        writer.write("</text>\n" as StaticString)
        if let band {
            writeMarks(of: band, scale, top, behind: 3 + Double(name.columns + 2) * FlameGraph.letter, writer)
        }
    }

    /// Draws what a thread did: it ran, was blocked, or wanted a CPU. What is narrower than a pixel is left out.
    private func write(_ states: [FlameTimeline.State], of band: Frame, _ scale: Double, row: Int, _ writer: ByteWriter)
    {
        guard !states.isEmpty else { return }
        func write(_ style: String, _ begin: UInt64, _ length: UInt64, _ title: String) {
            writer.write("<rect class=\"\(style)\" x=\"\(FlameGraph.rounded(Double(begin) * scale))\"")
            writer.write(" y=\"\(row * FlameGraph.rowHeight + 6)\" height=\"\(FlameGraph.rowHeight - 5)\"")
            writer.write(" width=\"\(FlameGraph.rounded(Double(length) * scale))\"><title>")
            writer.write(markup: title)
            writer.write("</title></rect>\n" as StaticString)
        }
        write("s0", band.start, band.total, "running")
        for state in states where Double(state.length) * scale >= 1 {
            let what = state.wantsCPU ? "runnable: it wanted a CPU" : "blocked"
            let lines = [what, state.text, String(time: state.length), state.waker.map { "ended by \($0.path)" }]
            write(
                state.wantsCPU ? "s2" : "s1", state.begin, state.length,
                lines.compactMap(\.self).joined(separator: "\n"))
        }
    }

    /// Draws the marks of a band as triangles that point to their moments, each with its name where there is room, and as dashes
    /// below the band's name. Marks that share a pixel are one.
    ///
    /// - Parameters:
    ///   - top: of the band's row, in px.
    ///   - named: where the band's name ends, in px.
    private func writeMarks(of band: Int, _ scale: Double, _ top: Int, behind named: Double, _ writer: ByteWriter) {
        guard let timeline else { return }
        var rest = timeline.bands[band].marks[...]
        while let mark = rest.popFirst() {
            let x = Double(mark.moment) * scale
            let near = rest.prefix { Double($0.moment) * scale < x + 1 }
            rest = rest.dropFirst(near.count)
            let isBelowName = x < named
            let shape =
                isBelowName
                ? "\(FlameGraph.rounded(x - 1)) \(top + 12)h2v4h-2z" : "\(FlameGraph.rounded(x - 4)) \(top + 4)h8l-4 9z"
            writer.write("<path class=\"m\" d=\"M\(shape)\"><title>")
            writer.write(markup: mark.name)
            if !near.isEmpty { writer.write(" and \(near.count) more") }
            writer.write("\nat " as StaticString)
            writer.write(time: timeline.origin &+ mark.moment)
            writer.write("</title></path>\n" as StaticString)
            let next = rest.first.map { Double($0.moment) * scale - 6 } ?? FlameGraph.width
            let letters = Int((next - x - 8) / FlameGraph.letter)
            guard !isBelowName, letters > 2 else { continue }
            writer.write("<text x=\"\(FlameGraph.rounded(x + 7))\" y=\"\(top + FlameGraph.rowHeight - 5)\">")
            writer.write(markup: FlameLabel.fitted(mark.name, letters: letters))
            writer.write("</text>\n" as StaticString)
        }
    }

    /// A time, and its share of the whole.
    private func write(share time: UInt64, _ writer: ByteWriter) {
        switch options.unit {
        case .time: writer.write(time: time)
        case .bytes: writer.write(CountText.size(time))
        case .faults: writer.write("\(CountText.grouped(time)) \(time == 1 ? "fault" : "faults")")
        }
        let hundredths = Int((10_000 * Double(time) / Double(max(total, 1))).rounded())
        writer.write(" (\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10) %)")
    }

    static func rounded(_ number: Double) -> Double { (number * 100).rounded() / 100 }
}
