/// Puts sleds into what gcc hands to the assembler. gcc marks the places (`-p -mfentry -minstrument-return=nop5
/// -mrecord-return -mrecord-mcount`), but with instructions that cannot be changed while threads execute them, and with
/// a call where functions begin. Here they become sleds as clang makes them, with clang's list of them.
enum SledAssembly {
    /// Returns the assembly with sleds; nil when it has no place for any, as assembly that no compiler wrote.
    ///
    /// - Parameter isExcluded: asked with each function's linkage name, and the file that it is defined in, if debug
    ///   information tells.
    /// - Complexity: O(bytes).
    static func sledded(
        _ text: [UInt8], isExcluded: (_ function: String, _ file: String?) -> Bool = { _, _ in false }
    ) -> [UInt8]? {
        var writer = Writer(text)
        writer.run(isExcluded)
        return writer.places > 0 ? writer.result : nil
    }

    private struct Writer {
        private let text: [UInt8]
        private var lines: [Range<Int>] = []
        private(set) var result: [UInt8] = []
        /// The marks that were found.
        private(set) var places = 0
        private var sleds = 0
        private var isWithout = false
        private var functions = 0
        /// The name that was last said to be a function's.
        private var typed: ArraySlice<UInt8> = []
        /// The function whose code this is, and the number of its file.
        private var name = ""
        private var file: Int?
        private var files: [Int: String] = [:]

        init(_ text: [UInt8]) {
            self.text = text
            var start = 0
            for index in text.indices where text[index] == UInt8(ascii: "\n") {
                lines.append(start..<index)
                start = index + 1
            }
            if start < text.count { lines.append(start..<text.count) }
            result.reserveCapacity(text.count + text.count / 4)
        }

        mutating func run(_ isExcluded: (_ function: String, _ file: String?) -> Bool) {
            var index = 0
            while index < lines.count {
                if let lines = entry(index) {
                    isWithout = isExcluded(name, file.flatMap { files[$0] })
                    sled(SledForm.nop, kind: 0)
                    index += lines
                } else if isEnd(index) {
                    index += 5
                    if index < lines.count, isReturn(index), !isWithout {
                        // As clang makes it: a return, and bytes behind it that nobody executes.
                        sled([0xc3, 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00], kind: 1)
                        index += 1
                    } else {
                        sled(SledForm.nop, kind: 2)
                    }
                } else {
                    copy(index)
                    index += 1
                }
            }
        }

        private func isLine(_ index: Int, _ expected: StaticString) -> Bool {
            index < lines.count && lines[index].count == expected.utf8CodeUnitCount
                && zip(lines[index], UnsafeBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount))
                    .allSatisfy { text[$0] == $1 }
        }

        private func begins(_ index: Int, _ expected: StaticString) -> Bool {
            index < lines.count && lines[index].count >= expected.utf8CodeUnitCount
                && zip(lines[index], UnsafeBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount))
                    .allSatisfy { text[$0] == $1 }
        }

        /// The call of a function's beginning, and three lines that list it; how many lines these are. A large code model
        /// has up to six for the call. A nested function's context, in r10, is saved before it and restored behind it, which
        /// a sled does not need.
        private func entry(_ index: Int) -> Int? {
            if isLine(index, "\tpushq\t%r10"), let lines = entry(index + 1),
                isLine(index + 1 + lines, "\tpopq\t%r10")
            {
                return lines + 2
            }
            guard begins(index, "1:\tcall\t") || begins(index, "1:\tmovabsq\t") else { return nil }
            for call in 1...6 where begins(index + call, "\t.section __mcount_loc") {
                return begins(index + call + 2, "\t.previous") ? call + 3 : nil
            }
            return nil
        }

        /// A label, the mark of a function's end, and three lines that list it.
        private func isEnd(_ index: Int) -> Bool {
            isLine(index, "1:") && begins(index + 1, "\t.byte\t0x0f, 0x1f, 0x44, 0x00, 0x00")
                && begins(index + 2, "\t.section __return_loc") && begins(index + 4, "\t.previous")
        }

        private func isReturn(_ index: Int) -> Bool {
            isLine(index, "\tret") || isLine(index, "\trep ret") || isLine(index, "\trep; ret")
        }

        private mutating func copy(_ index: Int) {
            let line = text[lines[index]]
            result += line
            result.append(UInt8(ascii: "\n"))
            if begins(index, "\t.loc\t") || begins(index, "\t.loc ") {
                // The first place that is told of a function is where it is defined.
                if file == nil { file = number(line.dropFirst(6)) }
            } else if begins(index, "\t.file\t") || begins(index, "\t.file ") {
                note(file: line.dropFirst(7))
            } else if begins(index, "\t.type\t"), line.suffix(11).elementsEqual(", @function".utf8) {
                typed = line.dropFirst(7).dropLast(11)
            } else if line.last == UInt8(ascii: ":"), !typed.isEmpty, line.dropLast().elementsEqual(typed) {
                // A rare part that the compiler moved away belongs to the function before it.
                let found = String(decoding: typed, as: UTF8.self)
                typed = []
                if line.firstRange(of: Array(".cold".utf8)) != nil { return }
                (name, file) = (found, nil)
                functions += 1
                result += ".LfathomF\(functions):\n".utf8
            }
        }

        private func number(_ text: ArraySlice<UInt8>) -> Int? {
            Int(String(decoding: text.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }, as: UTF8.self))
        }

        /// A number and a name, or a directory and a name in it, each in quotes.
        private mutating func note(file text: ArraySlice<UInt8>) {
            guard let number = number(text) else { return }
            let parts = text.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
            let names = stride(from: 1, to: parts.count, by: 2).map { String(decoding: parts[$0], as: UTF8.self) }
            guard let last = names.last else { return }
            files[number] = last.hasPrefix("/") || names.count < 2 ? last : "\(names[0])/\(last)"
        }

        private mutating func sled(_ bytes: [UInt8], kind: Int) {
            places += 1
            guard !isWithout else { return }
            // An address by a local symbol is not the business of whoever takes a library's place.
            let function = functions > 0 ? ".LfathomF\(functions)" : ".LfathomS\(sleds)"
            let listed = bytes.map { "\($0)" }.joined(separator: ",")
            result +=
                """
                \t.p2align 1
                .LfathomS\(sleds):
                \t.byte \(listed)
                \t.pushsection xray_instr_map,"ao?",@progbits,\(function)
                \t.quad .LfathomS\(sleds)-.
                \t.quad \(function)-.
                \t.byte \(kind),0,2,\(kind == 0 ? 1 : 0)
                \t.zero 12
                \t.popsection

                """.utf8
            sleds += 1
        }
    }
}
