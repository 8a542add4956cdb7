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
        /// The five bytes that stand there, or behind the mark there (ENDBR64), the first one lowest; on aarch64, four.
        public var code: UInt64
        var mangledName: String?

        /// As reports show it; nil: nothing tells its name.
        public var name: String? { mangledName.map { demangle($0) } }
    }

    /// Why a function is left alone.
    public enum Reason: Int, Sendable, CaseIterable {
        /// It is known for what it does with the stack.
        case known
        case notDecoded, loops, tooShort, entered, fixed, looks
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

    /// - Parameters:
    ///   - buildID: of the module as it runs, if that is known: another file's functions are not taken.
    ///   - hasHooks: whether it may have hooks of its own.
    /// - Throws: ``SymbolProblem``.
    /// - Complexity: O(bytes of code and data + n log n in the number of functions).
    public init(path: String, buildID: [UInt8]? = nil, hasHooks: Bool = false) throws(SymbolProblem) {
        let file = try ELFFile(path: path)
        self.path = path
        self.buildID = file.buildID
        if let buildID, buildID != file.buildID { throw .noSymbols(path) }
        if let refusal = file.refusesDetours(hasHooks: hasHooks) {
            (self.refusal, entries, refused, isStripped) = (refusal, [], [], false)
            return
        }
        let functions = EntrySymbols(file)
        guard !functions.all.isEmpty else { throw .noSymbols(path) }
        isStripped = functions.isStripped
        let judge = DetourJudge(file, functions, hasHooks: hasHooks)
        refusal = judge.isScalable ? "has code for SVE, whose registers a recorded call would not keep" : nil
        (entries, refused) = judge.isScalable ? ([], []) : (judge.entries, judge.refused)
    }

    /// Why a module is left alone as a whole by what its file says of its language and build; nil: it is not, or cannot be read.
    public static func refusal(of path: String, buildID: [UInt8]) -> String? {
        guard let file = try? ELFFile(path: path), file.buildID == buildID else { return nil }
        return file.refusesDetours(hasHooks: true)
    }
}

private struct DetourJudge {
    private let isARM: Bool
    /// Whether code uses vectors of no fixed size, which system calls of the runtime would cut short (SVE).
    private(set) var isScalable = false
    private(set) var entries: [DetourEntries.Entry] = []
    private(set) var refused: [(name: String, reason: DetourEntries.Reason)] = []

    /// - Parameter hasHooks: whether functions look at where they return to for their hooks.
    init(_ file: borrowing ELFFile, _ functions: EntrySymbols, hasHooks: Bool) {
        isARM = file.isARM
        let code = file.functionSections
        guard let low = code.map(\.range.lowerBound).min(), let high = code.map(\.range.upperBound).max(),
            high - low < 1 << 32
        else { return }
        let unwind = UnwindEntries(file)
        var surveyed = functions.all.map {
            fathom_surveyed(
                start: $0.start, end: $0.end, is_undecoded: 0, loops: 0, looks: 0, names_itself: 0, jumps_away: 0)
        }
        let size = Int(high - low) / 8 + 1
        let references = DataReferences(file).references
        let data = file.constants
        var bits = [UInt8](repeating: 0, count: 2 * size)
        bits.withUnsafeMutableBufferPointer { bits in
            var targets = fathom_targets(low: low, high: high, bits: bits.baseAddress)
            // What nothing but conditional branches of other functions may tell of: parts of these.
            var parts = fathom_targets(low: low, high: high, bits: bits.baseAddress! + size)
            for section in code {
                let first = surveyed.partitioningIndex { $0.start >= section.range.lowerBound }
                let end = surveyed.partitioningIndex { $0.start >= section.range.upperBound }
                surveyed.withUnsafeMutableBufferPointer {
                    let functions = $0.baseAddress.map { $0 + first }
                    if isARM {
                        let found = fathom_arm_survey(
                            &parts, section.bytes, section.bytes.count, section.range.lowerBound, functions, end - first
                        )
                        if found != 0 { isScalable = true }
                    } else {
                        fathom_survey(
                            &targets, &parts, section.bytes, section.bytes.count, section.range.lowerBound, functions,
                            end - first, data, data.count)
                    }
                }
            }
            for reference in references { fathom_target(&targets, reference.target) }
            Self.findLoops(references, &surveyed)
            if hasHooks { for index in surveyed.indices { surveyed[index].looks = 0 } }
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

    /// A function whose beginning stands in the data beside the addresses of other instructions of it comes back there: that is a table
    /// of labels.
    private static func findLoops(_ references: [(at: UInt64, target: UInt64)], _ surveyed: inout [fathom_surveyed]) {
        let sorted = references.sorted { $0.at < $1.at }
        for index in sorted.indices {
            let target = sorted[index].target, place = surveyed.partitioningIndex { $0.start >= target }
            guard place < surveyed.count, surveyed[place].start == target else { continue }
            let range = target + 1..<max(surveyed[place].end, target + 1)
            for other in [index - 1, index + 1]
            where sorted.indices.contains(other) && range.contains(sorted[other].target) {
                surveyed[place].loops = 1
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
        if !isARM, let next = unwind.nextFrames[function.start], next.behind < place(code) + detourSize,
            !Self.explains(code, next)
        {
            return .unwinding
        }
        guard code.count >= detourSize else { return .tooShort }
        let bytes = code.baseAddress!.assumingMemoryBound(to: UInt8.self)
        return withUnsafePointer(to: function) { function in
            switch isARM ? fathom_arm_judge(function, bytes) : fathom_judge(&targets, function, bytes, room) {
            case FATHOM_HAS_DETOUR: nil
            case FATHOM_LOOPS: .loops
            case FATHOM_TOO_SHORT: .tooShort
            case FATHOM_ENTERED: .entered
            case FATHOM_FIXED: .fixed
            case FATHOM_LOOKS: .looks
            default: .notDecoded
            }
        }
    }

    private var detourSize: Int { isARM ? Int(FATHOM_ARM_DETOUR_SIZE) : Int(FATHOM_DETOUR_SIZE) }

    /// How many bytes behind the beginning of a function its detour is.
    private func place(_ code: UnsafeRawBufferPointer) -> Int {
        guard !isARM, let bytes = code.baseAddress else { return 0 }
        return fathom_detour_place(bytes.assumingMemoryBound(to: UInt8.self), code.count)
    }

    /// Whether the first bytes of code make the frame what the table says that it is behind them: where they do not, control comes
    /// there from elsewhere, as to what handles exceptions.
    private static func explains(_ code: UnsafeRawBufferPointer, _ next: (behind: Int, offset: Int64)) -> Bool {
        guard next.behind <= code.count else { return false }
        var depth = fathom_depth(depth: 0, frame: 0, is_known: 1, has_frame: 0), at = 0
        let bytes = code.baseAddress!.assumingMemoryBound(to: UInt8.self)
        while at < next.behind {
            let found = fathom_instruction_at(bytes + at, code.count - at)
            if found.length == 0 { return false }
            _ = fathom_follow(&depth, bytes + at, found)
            at += Int(found.length)
        }
        return depth.is_known != 0 && depth.depth + 8 == next.offset
    }

    private mutating func add(
        _ function: EntrySymbol, _ bytes: UnsafeRawBufferPointer, _ place: Int, _ reason: DetourEntries.Reason?
    ) {
        if let reason {
            let address = "0x" + String(function.start, radix: 16)
            refused.append((function.name.map { demangle($0) } ?? address, reason))
        } else {
            let first = place + self.place(UnsafeRawBufferPointer(rebasing: bytes[place...]))
            let code = bytes[first..<first + detourSize].reversed().reduce(0) { $0 << 8 | UInt64($1) }
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
        "_Unwind_", "uw_", "unw_", "_Ux86_64", "_ULx86_64", "_Uaarch64", "_ULaarch64", "__unw_", "_dl_runtime_resolve",
        "_dl_tlsdesc", "__x86_",
        "__llvm_retpoline", "__sanitizer_", "__asan_",
        "__tsan_", "__msan_", "__ubsan_", "__interceptor_", "___interceptor_",
    ]

    static func isLeftAlone(_ name: String) -> Bool {
        known.contains(name)
            || [UInt8(ascii: "_"), UInt8(ascii: "u")].contains(name.utf8.first)
                && knownBeginnings.contains(where: name.hasPrefix)
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

    /// What the program only reads.
    fileprivate var constants: [fathom_data] {
        var found: [fathom_data] = []
        _ = section { _, header in
            guard header.sh_flags & UInt64(SHF_ALLOC) != 0, header.sh_flags & UInt64(SHF_EXECINSTR) == 0,
                header.sh_type == UInt32(SHT_PROGBITS),
                let data = elf_getdata_rawchunk(
                    handle, Int64(bitPattern: header.sh_offset), Int(clamping: header.sh_size), ELF_T_BYTE),
                let bytes = data.pointee.d_buf
            else { return false }
            found.append(
                fathom_data(
                    address: header.sh_addr, bytes: bytes.assumingMemoryBound(to: UInt8.self),
                    size: data.pointee.d_size))
            return false
        }
        return found
    }
}
