internal import CElfutils
internal import CInstructions
internal import Glibc

/// The functions of a module that can get a detour: whose first instructions can be moved, so that a jump takes their place.
///
/// A function is fit if all of its code can be decoded, if the table for unwinding says that it finds its return address where a call
/// puts it, if nothing leads into its first bytes or back to its beginning, and if these can be moved (CDetours.h). Others are left
/// alone. Modules whose own code walks the stack, and knows nothing of return addresses that are not there, are left alone as a whole.
public struct DetourEntries: Sendable {
    public struct Entry: Sendable {
        /// In the module's file.
        public var address: UInt64
        /// Bytes of code.
        public var size: UInt64
        /// The five bytes that stand there, the first one lowest.
        public var code: UInt64
        var mangledName: String?

        /// As reports show it; nil: nothing tells its name.
        public var name: String? { mangledName.map { demangle($0) } }
    }

    /// Why a function is left alone.
    public enum Reason: Int, Sendable, CaseIterable {
        /// It is known for what it does with the stack.
        case known
        case notDecoded, loops, tooShort, entered, fixed
        /// The table for unwinding does not say that it finds its return address where a call puts it.
        case unwinding
    }

    public let path: String
    /// The file's build id; empty when it has none.
    public let buildID: [UInt8]
    /// By ascending address.
    public let entries: [Entry]
    /// The functions that are left alone, by ascending address. Those without a name are named by their addresses.
    public let refused: [(name: String, reason: Reason)]
    /// Why all of the module's functions are left alone; nil: they are not.
    public let refusal: String?
    public let isStripped: Bool

    /// - Parameter buildID: of the module as it runs, if that is known: another file's functions are not taken.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code and data + n log n in the number of functions).
    public init(path: String, buildID: [UInt8]? = nil) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        self.path = path
        self.buildID = file.buildID
        if let buildID, buildID != file.buildID { throw .noSymbols(path) }
        refusal = file.refusesDetours
        guard refusal == nil else {
            (entries, refused, isStripped) = ([], [], false)
            return
        }
        let functions = EntrySymbols(file)
        guard !functions.all.isEmpty else { throw .noSymbols(path) }
        isStripped = functions.isStripped
        let judge = DetourJudge(file, functions)
        (entries, refused) = (judge.entries, judge.refused)
    }
}

private struct DetourJudge {
    private(set) var entries: [DetourEntries.Entry] = []
    private(set) var refused: [(name: String, reason: DetourEntries.Reason)] = []

    init(_ file: borrowing ELFFile, _ functions: EntrySymbols) {
        let code = file.functionSections
        guard let low = code.map(\.range.lowerBound).min(), let high = code.map(\.range.upperBound).max(),
            high - low < 1 << 32
        else { return }
        let unwind = UnwindEntries(file)
        var surveyed = functions.all.map {
            fathom_surveyed(start: $0.start, end: $0.end, is_undecoded: 0, loops: 0)
        }
        let size = Int(high - low) / 8 + 1
        var bits = [UInt8](repeating: 0, count: 2 * size)
        bits.withUnsafeMutableBufferPointer { bits in
            var targets = fathom_targets(low: low, high: high, bits: bits.baseAddress)
            // What nothing but conditional branches of other functions may tell of: parts of these.
            var parts = fathom_targets(low: low, high: high, bits: bits.baseAddress! + size)
            for section in code {
                let first = surveyed.partitioningIndex { $0.start >= section.range.lowerBound }
                let end = surveyed.partitioningIndex { $0.start >= section.range.upperBound }
                surveyed.withUnsafeMutableBufferPointer {
                    fathom_survey(
                        &targets, &parts, section.bytes, section.bytes.count, section.range.lowerBound,
                        $0.baseAddress.map { $0 + first }, end - first)
                }
            }
            for reference in DataReferences(file).references { fathom_target(&targets, reference.target) }
            for range in unwind.functions { fathom_target(&targets, range.lowerBound) }
            file.forEachSymbolOfCode { fathom_target(&targets, $0) }
            for section in code {
                let first = surveyed.partitioningIndex { $0.start >= section.range.lowerBound }
                section.bytes.withUnsafeBytes { bytes in
                    for index in surveyed[first...].indices {
                        let function = surveyed[index]
                        guard function.start < section.range.upperBound else { break }
                        // A part of another function goes by that one's name.
                        if function.end > section.range.upperBound
                            || functions.isStripped && fathom_is_target(&parts, function.start) != 0
                        {
                            continue
                        }
                        let next = index + 1 < surveyed.count ? surveyed[index + 1].start : .max
                        let room = max(min(next, section.range.upperBound), function.end) - function.start
                        let place = Int(function.start - section.range.lowerBound)
                        let reason = reason(
                            against: function, functions.all[index].name, unwind, &targets,
                            UnsafeRawBufferPointer(rebasing: bytes[place...]), Int(room))
                        add(functions.all[index], bytes, place, reason)
                    }
                }
            }
        }
    }

    /// Why a function cannot get a detour; nil: it can.
    ///
    /// - Parameters:
    ///   - code: from its first byte to the section's end.
    ///   - room: the bytes up to where another function may begin.
    private func reason(
        against function: fathom_surveyed, _ name: String?, _ unwind: UnwindEntries, _ targets: inout fathom_targets,
        _ code: UnsafeRawBufferPointer, _ room: Int
    ) -> DetourEntries.Reason? {
        if let name, DetourEntries.isLeftAlone(name) { return .known }
        // Swift's compiler leaves out entries of functions that throw nothing and keep nothing.
        let isSwift = name?.hasPrefix("$s") ?? false
        guard isSwift || unwind.callEntries.contains(function.start) else { return .unwinding }
        guard code.count >= Int(FATHOM_DETOUR_SIZE) else { return .tooShort }
        return withUnsafePointer(to: function) { function in
            switch fathom_judge(&targets, function, code.baseAddress!.assumingMemoryBound(to: UInt8.self), room) {
            case FATHOM_HAS_DETOUR: nil
            case FATHOM_LOOPS: .loops
            case FATHOM_TOO_SHORT: .tooShort
            case FATHOM_ENTERED: .entered
            case FATHOM_FIXED: .fixed
            default: .notDecoded
            }
        }
    }

    private mutating func add(
        _ function: EntrySymbol, _ bytes: UnsafeRawBufferPointer, _ place: Int, _ reason: DetourEntries.Reason?
    ) {
        if let reason {
            let address = "0x" + String(function.start, radix: 16)
            refused.append((function.name.map { demangle($0) } ?? address, reason))
        } else {
            let code = bytes[place..<place + Int(FATHOM_DETOUR_SIZE)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
            entries.append(
                DetourEntries.Entry(
                    address: function.start, size: function.end - function.start, code: code,
                    mangledName: function.name))
        }
    }
}

extension DetourEntries {
    /// Functions that return twice, that the kernel or the dynamic linker jumps to, that look at where they return to, or that have a
    /// calling convention of their own.
    private static let known: Set<String> = [
        "_start", "__restore_rt", "__morestack", "__libc_start_main", "__libc_csu_init", "__libc_csu_fini", "_init",
        "_fini",
        "setjmp", "_setjmp", "__sigsetjmp", "sigsetjmp", "longjmp", "_longjmp", "siglongjmp", "__longjmp",
        "__longjmp_chk",
        "getcontext", "setcontext", "swapcontext", "makecontext", "vfork", "__vfork", "savectx", "__clone", "clone",
        "clone3",
        "__clone3", "mcount", "_mcount", "__fentry__", "__cyg_profile_func_enter", "__cyg_profile_func_exit",
        "__tls_get_addr", "dlopen", "dlsym", "dlvsym", "dlmopen", "backtrace", "__cxa_throw", "__cxa_rethrow",
    ]
    private static let knownBeginnings = [
        "_Unwind_", "_dl_runtime_resolve", "_dl_tlsdesc", "__x86_", "__llvm_retpoline", "__sanitizer_", "__asan_",
        "__tsan_", "__msan_", "__ubsan_", "__interceptor_", "___interceptor_",
    ]

    static func isLeftAlone(_ name: String) -> Bool {
        known.contains(name)
            || name.utf8.first == UInt8(ascii: "_") && knownBeginnings.contains(where: name.hasPrefix)
    }
}

extension ELFFile {
    /// Passes the addresses of all symbols of code, functions or not.
    fileprivate func forEachSymbolOfCode(_ body: (UInt64) -> Void) {
        for type in [SHT_SYMTAB, SHT_DYNSYM] {
            guard let data = section(type: type)?.data else { continue }
            let count = data.pointee.d_size / max(1, gelf_fsize(handle, ELF_T_SYM, 1, UInt32(EV_CURRENT)))
            var symbol = GElf_Sym()
            for index in 0..<min(count, Int(Int32.max)) where gelf_getsym(data, Int32(index), &symbol) != nil {
                let kind = Int32(symbol.st_info & 0xf)
                if symbol.st_shndx != UInt16(SHN_UNDEF), kind == STT_NOTYPE || kind == STT_FUNC || kind == STT_GNU_IFUNC
                {
                    body(symbol.st_value)
                }
            }
        }
    }
}
