internal import TraceText

/// Outlines of several chunks as bytes: LEB128 numbers, signed ones in zigzag.
extension ChunkOutline {
    /// Times and functions are told as differences to what was told last.
    private struct Last {
        var time: UInt64 = 0
        var ticks: UInt64 = 0
        var function: UInt64 = 0
        var callSite: UInt64 = 0

        private static func put(_ value: UInt64, after last: inout UInt64, to bytes: inout [UInt8]) {
            bytes.append(zigzag: Int64(bitPattern: value &- last))
            last = value
        }

        private static func take(after last: inout UInt64, from reader: inout LEB128Reader) -> UInt64 {
            last = last &+ UInt64(bitPattern: reader.takeZigzag())
            return last
        }

        mutating func put(_ call: Ended, to bytes: inout [UInt8]) {
            Last.put(call.time, after: &time, to: &bytes)
            bytes.append(leb128: call.total)
            bytes.append(call.state.rawValue)
            call.part.put(to: &bytes)
        }

        mutating func takeEnded(from reader: inout LEB128Reader) -> Ended {
            let time = Last.take(after: &time, from: &reader), total = reader.take()
            let state = CallState(rawValue: UInt8(truncatingIfNeeded: reader.take()))
            if state == nil { reader.fail() }
            return Ended(time: time, total: total, state: state ?? .complete, part: Part(from: &reader))
        }

        mutating func put(_ call: Begun, to bytes: inout [UInt8]) {
            Last.put(call.function, after: &function, to: &bytes)
            Last.put(call.callSite, after: &callSite, to: &bytes)
            Last.put(call.enterTicks, after: &ticks, to: &bytes)
            call.part.put(to: &bytes)
        }

        mutating func takeBegun(from reader: inout LEB128Reader) -> Begun {
            Begun(
                function: Last.take(after: &function, from: &reader),
                callSite: Last.take(after: &callSite, from: &reader),
                enterTicks: Last.take(after: &ticks, from: &reader), part: Part(from: &reader))
        }
    }

    /// Each has a byte before it: 0 for none.
    static func encode(_ outlines: [ChunkOutline?]) -> [UInt8] {
        var bytes: [UInt8] = []
        var last = Last()
        for outline in outlines {
            guard let outline else {
                bytes.append(0)
                continue
            }
            bytes.append(outline.isPlain ? 2 : 1)
            bytes.append(leb128: outline.longest)
            outline.inside.put(to: &bytes)
            bytes.append(leb128: UInt64(outline.ended.count))
            for call in outline.ended { last.put(call, to: &bytes) }
            bytes.append(leb128: UInt64(outline.begun.count))
            for call in outline.begun { last.put(call, to: &bytes) }
        }
        return bytes
    }

    /// - Returns: nil where that is not what ``encode(_:)`` wrote of so many.
    static func decode(_ bytes: [UInt8], count: Int) -> [ChunkOutline?]? {
        bytes.withUnsafeBytes { bytes in
            var reader = LEB128Reader(bytes)
            var last = Last()
            let outlines = (0..<count).map { _ -> ChunkOutline? in
                let kind = reader.take(below: 3)
                if kind == 0 { return nil }
                var outline = ChunkOutline()
                outline.isPlain = kind == 2
                outline.longest = reader.take()
                outline.inside = Part(from: &reader)
                for _ in 0..<reader.takeCount() { outline.ended.append(last.takeEnded(from: &reader)) }
                for _ in 0..<reader.takeCount() { outline.begun.append(last.takeBegun(from: &reader)) }
                return outline
            }
            return reader.isAtEnd ? outlines : nil
        }
    }
}

extension ChunkOutline.Part {
    fileprivate func put(to bytes: inout [UInt8]) {
        // Few recordings have left out calls.
        let hasDropped = dropped != CallSum()
        bytes.append(leb128: calls << 1 | (hasDropped ? 1 : 0))
        bytes.append(leb128: callees)
        if hasDropped {
            bytes.append(leb128: dropped.calls)
            bytes.append(leb128: dropped.time)
        }
    }

    fileprivate init(from reader: inout LEB128Reader) {
        let number = reader.take()
        calls = number >> 1
        callees = reader.take()
        if number & 1 != 0 { dropped = CallSum(calls: reader.take(), time: reader.take()) }
    }
}
