// A module in bytes, for a compressor: numbers of a kind stand together, each as its difference to the one before it, in LEB128
// (DWARF 5, 7.6; signed ones folded so that small ones stay short), and names leave out what they begin with in common.

extension KeptModule {
    var bytes: [UInt8] {
        var output = ColumnWriter()
        output.put(UInt64(facts.rawValue))
        output.put(UInt64(buildID.count))
        output.bytes += buildID
        var texts = FrontCoder()
        output.put(texts, path)
        output.put(UInt64(files.count))
        for file in files { output.put(&texts, file) }
        putStretches(&output)
        putRows(&output)
        output.put(UInt64(variables.count))
        var address: UInt64 = 0
        for variable in variables {
            output.put(variable.address &- address)
            output.put(variable.offset)
            output.put(&texts, name(variable.name))
            address = variable.address
        }
        if let linkage {
            output.bytes.append(linkage.isUnused ? 1 : 0)
            for kind in DynamicLinkage.Kind.allCases { output.put(linkage.relocations[kind] ?? 0) }
        }
        return output.bytes
    }

    private func putStretches(_ output: inout ColumnWriter) {
        output.put(UInt64(stretches.count))
        var end: UInt64 = 0
        for stretch in stretches {
            output.put(stretch.start &- end)
            end = stretch.end
        }
        for stretch in stretches { output.put(stretch.end &- stretch.start) }
        for stretch in stretches { output.put(signed: stretch.start &- stretch.function) }
        for stretch in stretches { output.bytes.append(stretch.traits.rawValue) }
        output.putPlaces(stretches.map { ($0.file, $0.line) })
        var texts = FrontCoder()
        for stretch in stretches { output.put(&texts, name(stretch.name)) }
    }

    private func putRows(_ output: inout ColumnWriter) {
        output.put(UInt64(rows.count))
        var address: UInt64 = 0
        for row in rows {
            output.put(row.address &- address)
            address = row.address
        }
        output.putPlaces(rows.map { ($0.file, $0.line) })
    }

    /// - Returns: nil for bytes that are no module.
    init?(bytes: UnsafeRawBufferPointer) {
        var input = ColumnReader(bytes)
        guard let facts = input.number(), let size = input.count(of: 1), let buildID = input.take(size) else {
            return nil
        }
        var texts = FrontCoder()
        guard let path = input.text(&texts) else { return nil }
        self.init(path: path, buildID: [UInt8](buildID))
        self.facts = Facts(rawValue: UInt8(truncatingIfNeeded: facts))
        texts = FrontCoder()
        guard let count = input.count(of: 2) else { return nil }
        files.reserveCapacity(count)
        for _ in 0..<count {
            guard let file = input.text(&texts) else { return nil }
            files.append(file)
        }
        guard takeStretches(&input), takeRows(&input), let variables = input.count(of: 4) else { return nil }
        var address: UInt64 = 0
        for index in 0..<variables {
            guard let step = input.number(), let offset = input.number(), index == 0 || step > 0,
                !address.addingReportingOverflow(step).overflow, let name = input.name(&texts, to: &names)
            else { return nil }
            address += step
            self.variables.append(Variable(address: address, name: name, offset: offset))
        }
        if input.isAtEnd { return }
        guard let isUnused = input.number(), isUnused < 2 else { return nil }
        var relocations: [DynamicLinkage.Kind: UInt64] = [:]
        for kind in DynamicLinkage.Kind.allCases {
            guard let count = input.number() else { return nil }
            if count > 0 { relocations[kind] = count }
        }
        guard input.isAtEnd else { return nil }
        linkage = Linkage(relocations: relocations, isUnused: isUnused == 1)
    }

    private mutating func takeStretches(_ input: inout ColumnReader) -> Bool {
        guard let count = input.count(of: 7) else { return false }  // one of no line has no byte for it
        stretches = Array(
            repeating: Stretch(start: 0, end: 0, function: 0, name: 0, file: 0, line: 0, traits: []), count: count)
        var gaps = [UInt64](repeating: 0, count: count)
        for index in 0..<count {
            guard let gap = input.number() else { return false }
            gaps[index] = gap
        }
        var end: UInt64 = 0
        for index in 0..<count {
            guard let size = input.number(), size > 0 else { return false }
            let (start, over) = end.addingReportingOverflow(gaps[index])
            let (next, overflow) = start.addingReportingOverflow(size)
            guard !over, !overflow else { return false }
            (stretches[index].start, stretches[index].end) = (start, next)
            end = next
        }
        for index in 0..<count {
            guard let offset = input.signed() else { return false }
            stretches[index].function = stretches[index].start &- offset
        }
        guard let traits = input.take(count) else { return false }
        for index in 0..<count { stretches[index].traits = Traits(rawValue: traits[index]) }
        guard let places = input.places(count, of: files.count) else { return false }
        for (index, place) in places.enumerated() { (stretches[index].file, stretches[index].line) = place }
        var texts = FrontCoder()
        for index in 0..<count {
            guard let place = input.name(&texts, to: &names) else { return false }
            stretches[index].name = place
        }
        return true
    }

    private mutating func takeRows(_ input: inout ColumnReader) -> Bool {
        guard let count = input.count(of: 2) else { return false }
        rows = Array(repeating: Row(address: 0, file: 0, line: 0), count: count)
        var address: UInt64 = 0
        for index in 0..<count {
            guard let step = input.number(), !address.addingReportingOverflow(step).overflow else { return false }
            address += step
            rows[index].address = address
        }
        guard let places = input.places(count, of: files.count) else { return false }
        for (index, place) in places.enumerated() { (rows[index].file, rows[index].line) = place }
        return true
    }
}
