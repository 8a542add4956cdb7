import TestSupport
import Testing

@testable import TraceExport

/// The formats that hold every call.
@Suite struct TimelineTests {
    /// main calls step twice, the second time without an end; step calls `parse<int>`, thrown out of.
    private func calls() throws -> ExportFixture {
        try ExportFixture(["main", "step", "parse<\"int\", a\\b>"]) { records in
            records.enter(ExportFixture.address(0), at: 1100)
            records.enter(ExportFixture.address(1), at: 1200)
            records.enter(ExportFixture.address(2), at: 1300)
            records.unwind(1, at: 1450)
            records.exit(at: 2200)
            records.enter(ExportFixture.address(1), at: 2200)
            records.enter(ExportFixture.address(2), at: 2200)
            records.exit(at: 2200)
            records.dropped(0, ticks: 0)
            records.lane(0, depth: 2, at: 3001)
        }
    }

    private func nested(_ depth: Int) throws -> ExportFixture {
        try ExportFixture(["deep"]) { records in
            for level in 0..<depth { records.enter(ExportFixture.address(0), at: 2000 + UInt64(level)) }
            for level in 0..<depth { records.exit(at: 2000 + UInt64(depth + level)) }
        }
    }

    @Test func csv() throws {
        #expect(
            try calls().lines(.csv) == [
                "call,caller,pid,tid,lane,depth,name,module,start_ns,total_ns,self_ns,state",
                "1,,1000,1000,0,0,main,/opt/program,1100,1901,100,open",
                "2,1,1000,1000,0,1,step,/opt/program,1200,1000,850,complete",
                "3,2,1000,1000,0,2,\"parse<\"\"int\"\", a\\b>\",/opt/program,1300,150,150,unwound",
                "4,1,1000,1000,0,1,step,/opt/program,2200,801,801,open",
                "5,4,1000,1000,0,2,\"parse<\"\"int\"\", a\\b>\",/opt/program,2200,0,0,complete",
            ])
    }

    @Test func chromeHasPairsWithNamesAndExactTimes() throws {
        let lines = try calls().lines(.chrome)
        try #require(lines.count > 12)
        #expect(lines.first == "[" && lines.last == "]")
        #expect(lines[1] == #"{"ph":"M","pid":1000,"tid":1000,"name":"process_name","args":{"name":"program"}},"#)
        #expect(lines[3] == #"{"ph":"B","pid":1000,"tid":1000,"ts":1.100,"name":"main","cat":"open"},"#)
        #expect(lines[6] == #"{"ph":"E","pid":1000,"tid":1000,"ts":1.450,"name":"parse<\"int\", a\\b>"},"#)
        #expect(lines[12] == #"{"ph":"E","pid":1000,"tid":1000,"ts":3.001,"name":"main"}"#)
    }

    @Test func speedscopeIsBalancedAndNeverGoesBack() throws {
        var open: [Substring] = []
        var last: UInt64 = 0
        var events = 0
        for line in try calls().lines(.speedscope) where line.hasPrefix("{\"type\":\"") && line.contains("\"at\":") {
            let fields = line.split { ":,}]".contains($0) }
            let time = try #require(UInt64(fields.at(5)))
            #expect(time >= last)
            last = time
            events += 1
            if fields[1] == "\"O\"" { open.append(fields[3]) } else { #expect(open.popLast() == fields[3]) }
        }
        #expect(open.isEmpty)
        #expect(events == 10)
        let text = String(decoding: try calls().export(.speedscope).bytes, as: UTF8.self)
        #expect(text.contains(#""startValue":1100,"endValue":3001"#))
        #expect(text.contains(#"{"name":"parse<\"int\", a\\b>","file":"program.c","line":3}"#))
    }

    @Test func firefoxSamplesAreTheStretchesOfSelfTime() throws {
        let text = String(decoding: try calls().export(.firefox).bytes, as: UTF8.self)
        #expect(text.contains(#""length":5,"stack":[0,1,2,1,1]"#))
        #expect(text.contains(#""weight":[0.000100,0.000100,0.000150,0.000750,0.000801]"#))
        #expect(text.contains(#""time":[0.001100,0.001200,0.001300,0.001450,0.002200]"#))
        #expect(text.contains(#""stackTable":{"length":3,"frame":[0,1,2],"prefix":[null,0,1]}"#))
        #expect(text.contains(#""stringArray":["main","step",""#))
    }

    @Test func firefoxHasLibrariesFilesCountersAndCategories() throws {
        let fixture = try ExportFixture(["main", "step"], marks: ["", "here", "memory"]) { records in
            records.enter(ExportFixture.address(0), at: 2000)
            records.counter(2, 5, at: 2100)
            records.enter(ExportFixture.address(1), at: 2200)
            records.mark(1, at: 2300)
            records.counter(2, 12.5, at: 2400)
            records.exit(at: 2500)
            records.exit(at: 3000)
        }
        let text = String(decoding: fixture.export(.firefox).bytes, as: UTF8.self)
        #expect(text.contains(#""libs":["#) && text.contains(#""name":"program","path":"/opt/program""#))
        #expect(text.contains(#""breakpadId":"000000010000000000000000000000000","codeId":"01""#))
        #expect(text.contains(#""resource":[0,0],"source":[0,0],"lineNumber":[1,2]"#))
        #expect(text.contains(#""sources":{"length":1,"filename":[5],"id":[null]"#))
        #expect(text.contains(#""stringArray":["memory","here","main","step","program","program.c"]"#))
        #expect(text.contains(#""name":"memory","category":"counter""#))
        #expect(text.contains(#""samples":{"length":2,"time":[0.002100,0.002400],"count":[5.0,7.5]}"#))
        #expect(text.contains(#""markers":{"length":3,"name":[0,1,0],"startTime":[0.002100,0.002300,0.002400]"#))
        #expect(text.contains(#""data":[{"type":"counter","value":5.0},null,{"type":"counter","value":12.5}]"#))
        #expect(text.contains(#""category":[0,0]"#) && text.contains(#"{"name":"Program","color":"yellow""#))
    }

    /// Swift's strings count such names as equal.
    @Test func firefoxTellsNamesApartByTheirBytes() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        let fixture = try ExportFixture(["main"], marks: ["", composed, decomposed]) { records in
            records.enter(ExportFixture.address(0), at: 2000)
            records.counter(1, 1, at: 2100)
            records.counter(2, 2, at: 2200)
            records.exit(at: 3000)
        }
        let text = Array(String(decoding: fixture.export(.firefox).bytes, as: UTF8.self).utf8)
        for name in [composed, decomposed] {
            #expect(text.firstRange(of: "\"name\":\"\(name)\",\"category\":\"counter\"".utf8) != nil)
        }
        #expect(text.firstRange(of: "\"stringArray\":[\"\(composed)\",\"\(decomposed)\",".utf8) != nil)
    }

    @Test func perfettoPacketsAreOfOneSequenceAndTheDefaultClock() throws {
        let packets = ProtobufReader.messages(1, of: try calls().export(.perfetto).bytes)
        var named: Set<UInt64> = []
        var slices = 0
        for (index, packet) in packets.enumerated() {
            #expect(ProtobufReader.numbers(10, of: packet) == [1])
            #expect(ProtobufReader.numbers(13, of: packet) == [index == 0 ? 1 : 2])
            #expect(ProtobufReader.numbers(58, of: packet).isEmpty)
            for interned in ProtobufReader.messages(12, of: packet) {
                for name in ProtobufReader.messages(2, of: interned) {
                    #expect(named.insert(ProtobufReader.numbers(1, of: name)[0]).inserted)
                }
            }
            for event in ProtobufReader.messages(11, of: packet) {
                if let name = ProtobufReader.numbers(10, of: event).first { #expect(named.contains(name)) }
                slices += ProtobufReader.numbers(9, of: event) == [1] ? 1 : -1
            }
        }
        #expect(slices == 0)
        #expect(packets.count == 2 + 10)
    }

    @Test(arguments: [(ExportFormat.perfetto, 512), (.chrome, 512), (.speedscope, 4000), (.firefox, 4000)])
    func deepCallsAreLeftOutAndSaidToBe(_ format: ExportFormat, _ limit: Int) throws {
        let fits = try nested(limit)
        #expect(fits.export(format).1.written == UInt64(limit))
        #expect(ExportForecast(format, of: fits.source())?.warnings(canSplit: true) == [])
        let tooDeep = try nested(limit + 3)
        #expect(tooDeep.export(format).1.written == UInt64(limit))
        let warnings = ExportForecast(format, of: tooDeep.source())?.warnings(canSplit: true) ?? []
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("3 deeper calls are left out") == true)
    }

    /// Threads of one name are told apart.
    @Test func speedscopeNamesThreadsWithTheirIDs() throws {
        let text = String(decoding: try calls().export(.speedscope).bytes, as: UTF8.self)
        let names = text.matches(of: #/"type":"evented","name":"([^"]*)"/#).map { String($0.1) }
        #expect(!names.isEmpty && names.allSatisfy { $0.contains(#/ · .* ?[0-9]+$/#) }, "\(names)")
    }
}
