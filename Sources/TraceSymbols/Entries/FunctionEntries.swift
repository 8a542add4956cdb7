internal import CElfutils
internal import Glibc

/// Where the functions of a module begin, and with which byte: what a trap can take the place of.
///
/// Only what a symbol says to be a function with a size counts or, in a stripped module, the table for unwinding; and only if its
/// code can be decoded from its first byte to its last. So data among code is left alone, and so is assembly that is not made as
/// compilers make functions.
public struct FunctionEntries: Sendable {
    public struct Entry: Sendable, Equatable {
        /// In the module's file.
        public var address: UInt64
        public var byte: UInt8
    }

    public let path: String
    /// The file's build id; empty when it has none.
    public let buildID: [UInt8]
    /// By ascending address. Functions that share an entry have one.
    public let entries: [Entry]
    /// How many functions have none, because their code is not like a compiler's.
    public let leftAlone: Int
    /// Whether there are symbols only of those functions that other modules may call. The others are known by where they begin.
    public let isStripped: Bool

    /// - Parameter buildID: of the module as it runs, if that is known: another file's functions are not taken.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code + n log n in the number of functions).
    public init(path: String, buildID: [UInt8]? = nil) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        self.path = path
        self.buildID = file.buildID
        if let buildID, buildID != file.buildID { throw .noSymbols(path) }
        if file.header.e_machine != UInt16(EM_X86_64) || file.hasTextRelocations {
            (entries, leftAlone, isStripped) = ([], 0, false)
            return
        }
        let functions = EntrySymbols(file)
        guard !functions.all.isEmpty else { throw .noSymbols(path) }
        isStripped = functions.isStripped
        let found = FunctionEntries.decode(functions.all, file, leavesParts: isStripped)
        (entries, leftAlone) = (found.entries, found.left)
    }

    /// A program and the libraries that it needs, with what tells their builds apart. Those that cannot be read are passed
    /// over.
    ///
    /// - Parameter libraryPath: the value of LD_LIBRARY_PATH that the program will see.
    public static func modules(
        of program: String, libraryPath: String?
    ) throws(SymbolProblem) -> [(path: String, buildID: [UInt8])] {
        let file = try ELFFile(path: program)
        var modules = [(path: program, buildID: file.buildID)]
        var search = LibrarySearch(program: file, libraryPath: libraryPath)
        _ = search.anyLibrary(of: file, DynamicSection(file)) { library in
            modules.append((library.path, library.buildID))
            return false
        }
        return modules
    }

    /// Whether a program has the thread sanitizer, which runs handlers of signals while all signals are blocked: a trap would end the
    /// program then.
    public static func hasThreadSanitizer(_ path: String) -> Bool {
        guard let file = try? ELFFile(path: path) else { return false }
        // Its library is needed, or is in the program. Swift's hooks define the first of these, too.
        return file.namesSymbol(["__tsan_init"], in: SHT_DYNSYM) { $0 }
            || [SHT_DYNSYM, SHT_SYMTAB].contains { file.namesSymbol(["__tsan_acquire"], in: $0) { !$0 } }
    }

    /// The library that unwinds a program's stack for exceptions, where that is nongnu's libunwind, which ends the program at a return
    /// place; nil: it is another one.
    ///
    /// - Parameter libraryPath: as for ``modules(of:libraryPath:)``.
    public static func foreignUnwinder(of program: String, libraryPath: String?) -> String? {
        guard let file = try? ELFFile(path: program) else { return nil }
        var search = LibrarySearch(program: file, libraryPath: libraryPath)
        var found: String?
        _ = search.anyLibrary(of: file, DynamicSection(file)) { library in
            guard library.namesSymbol(["_Unwind_RaiseException"], in: SHT_DYNSYM, where: { !$0 }) else { return false }
            let own = ["__libunwind_Unwind_RaiseException"]
            if library.namesSymbol(own, in: SHT_DYNSYM, where: { !$0 }) { found = library.path }
            return true
        }
        return found
    }

    /// Whether the dynamic linker starts the file as a program.
    public static func isProgram(_ path: String) -> Bool {
        guard let file = try? ELFFile(path: path) else { return false }
        return file.segments.contains { $0.p_type == UInt32(PT_INTERP) }
    }

    /// - Parameter leavesParts: whether what conditional branches of other functions lead to is left alone, as parts of these.
    private static func decode(
        _ symbols: [EntrySymbol], _ file: borrowing ELFFile, leavesParts: Bool
    ) -> (entries: [Entry], left: Int) {
        let code = file.functionSections
        let lengths = InstructionLengths()
        var entries: [Entry] = []
        var left = 0
        // The functions that still go on where the next one begins: where they overlap, it must begin one of their
        // instructions, too.
        var open: [EntrySymbol] = []
        var parts: Set<UInt64> = []
        for symbol in symbols {
            guard let section = code.first(where: { $0.range.contains(symbol.start) }),
                symbol.end <= section.range.upperBound
            else { continue }
            open.removeAll { $0.end <= symbol.start }
            let isWhole = section.bytes.withUnsafeBytes { bytes in
                walk(symbol, to: symbol.end, section.range.lowerBound, bytes, lengths)
                    && open.allSatisfy { walk($0, to: symbol.start, section.range.lowerBound, bytes, lengths) }
            }
            if isWhole {
                if leavesParts {
                    section.bytes.withUnsafeBytes {
                        parts.formUnion(
                            UnwindEntries.parts(
                                reachedFrom: symbol.start..<symbol.end, $0, section.range.lowerBound))
                    }
                }
                let byte = section.bytes[Int(symbol.start - section.range.lowerBound)]
                entries.append(Entry(address: symbol.start, byte: byte))
                open.append(symbol)
            } else {
                left += 1
            }
        }
        let count = entries.count
        entries.removeAll { parts.contains($0.address) }
        return (entries, left + count - entries.count)
    }

    /// Whether the instructions of a function lead from its beginning to `end`, and not past it.
    private static func walk(
        _ symbol: EntrySymbol, to end: UInt64, _ base: UInt64, _ bytes: UnsafeRawBufferPointer,
        _ lengths: InstructionLengths
    ) -> Bool {
        let limit = Int(symbol.end - base)
        let code = UnsafeRawBufferPointer(rebasing: bytes[..<limit])
        var position = Int(symbol.start - base)
        let goal = Int(end - base)
        while position < goal {
            let length = lengths.length(code, at: position)
            if length == 0 { return false }
            position += length
        }
        return position == goal
    }
}
