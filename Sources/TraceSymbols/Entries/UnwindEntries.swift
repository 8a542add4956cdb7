internal import CElfutils
internal import CInstructions
internal import Glibc
internal import TraceText

/// Where functions begin and end by the table for unwinding, which stripping leaves alone (.eh_frame, Linux Standard Base Core
/// Specification, "Exception Frames"; DWARF 5, 6.4).
///
/// What a compiler has moved away from a function has an entry of its own. It is jumped to, and not called, and where its frame is
/// not that of a function that was just called, it is left out.
struct UnwindEntries {
    private let bytes: UnsafeRawBufferPointer
    private let address: UInt64
    private let isARM: Bool
    private(set) var functions: [Range<UInt64>] = []
    /// Where code begins that finds the address it is to return to at the stack pointer, as a function does that was just called.
    private(set) var callEntries: Set<UInt64> = []
    /// Of these, where the frame changes within so few bytes that a detour may take their place: behind how many, and how far the frame's
    /// address is from the stack pointer then.
    private(set) var nextFrames: [UInt64: (behind: Int, offset: Int64)] = [:]

    /// The way in which compilers write addresses here: four bytes, from where they stand.
    private static let encoding: UInt8 = 0x1b  // DW_EH_PE_pcrel | DW_EH_PE_sdata4

    /// - Complexity: O(bytes of the table).
    init(_ file: borrowing ELFFile) {
        isARM = file.isARM
        guard let section = file.section(named: ".eh_frame"), section.header.sh_type != UInt32(SHT_NOBITS),
            let data = section.data, let start = data.pointee.d_buf
        else {
            (bytes, address) = (UnsafeRawBufferPointer(start: nil, count: 0), 0)
            return
        }
        bytes = UnsafeRawBufferPointer(start: start, count: data.pointee.d_size)
        address = section.header.sh_addr
        var at = 0
        var common: [Int: CallFrame?] = [:]
        while at + 8 <= bytes.count {
            let size = Int(word(at))
            // A zero ends the table; sizes of eight bytes are nobody's.
            guard size > 0, size < 0xffff_fff0, at + 4 + size <= bytes.count else { break }
            let id = Int(word(at + 4)), end = at + 4 + size
            if id != 0, id <= at + 4 {
                let place = at + 4 - id
                let frame = common[place] ?? self.frame(commonAt: place)
                common[place] = frame
                if let frame { add(at, end, frame) }
            }
            at = end
        }
    }

    private func word(_ at: Int) -> UInt32 { bytes.loadUnaligned(fromByteOffset: at, as: UInt32.self) }

    /// The frame that entries begin with, if what they have in common says that addresses are written in the usual way, with a size
    /// behind them.
    private func frame(commonAt place: Int) -> CallFrame? {
        guard place + 9 < bytes.count, word(place + 4) == 0 else { return nil }
        var at = place + 9
        let end = min(place + 4 + Int(word(place)), bytes.count)
        var letters: [UInt8] = []
        while at < end, bytes[at] != 0 {
            letters.append(bytes[at])
            at += 1
        }
        at += 1
        // The alignments of code and data, and the register of the return address, a byte in the first version.
        guard letters.first == UInt8(ascii: "z"), bytes[place + 8] == 1 else { return nil }
        _ = number(&at, end)
        var frame = CallFrame(dataAlignment: signedNumber(&at, end), isARM: isARM)
        at += 1
        let size = number(&at, end)
        guard at < end, size <= UInt64(end - at) else { return nil }
        let instructions = at + Int(size)
        var isUsual = false
        letters: for letter in letters.dropFirst() where at < end {
            switch letter {
            case UInt8(ascii: "R"):
                isUsual = bytes[at] == UnwindEntries.encoding
                break letters
            case UInt8(ascii: "L"): at += 1
            case UInt8(ascii: "P"):
                // A pointer to what handles exceptions: of four bytes in position-independent code, else of four or eight.
                guard [0x3, 0xb].contains(bytes[at] & 0xf) else { return nil }
                at += 5
            default: return nil
            }
        }
        guard isUsual else { return nil }
        _ = frame.follow(bytes, instructions..<end)
        return frame
    }

    /// The number at `at`, which then is behind it.
    private func number(_ at: inout Int, _ end: Int) -> UInt64 {
        var reader = LEB128Reader(UnsafeRawBufferPointer(rebasing: bytes[..<end]), at: min(at, end))
        defer { at = reader.offset }
        return reader.take()
    }

    private func signedNumber(_ at: inout Int, _ end: Int) -> Int64 {
        let start = at, value = number(&at, end), bits = 7 * UInt64(max(at - start, 0))
        let isNegative = bits > 0 && bits < 64 && value >> (bits - 1) & 1 == 1
        return Int64(bitPattern: isNegative ? value | ~0 << bits : value)
    }

    /// Adds the function of the entry from `at` to `end`, whose frame is that one before its own instructions.
    private mutating func add(_ at: Int, _ end: Int, _ common: CallFrame) {
        guard at + 17 <= end else { return }
        let distance = Int64(bytes.loadUnaligned(fromByteOffset: at + 8, as: Int32.self))
        let start = address &+ UInt64(at + 8) &+ UInt64(bitPattern: distance), size = UInt64(word(at + 12))
        var first = at + 16
        let count = number(&first, end)
        first = count < UInt64(end - first) ? first + Int(count) : end
        var frame = common
        let rest = frame.follow(bytes, first..<end)
        if frame.isOfCall {
            callEntries.insert(start)
            if let rest, rest.behind < 9, let offset = frame.next(bytes, rest.at..<end) {
                nextFrames[start] = (rest.behind, offset)
            }
        }
        // Behind a call, the frame stays as it is for an instruction at least: DW_CFA_advance_loc, its three longer forms, or nothing.
        while first < end, bytes[first] == 0 { first += 1 }
        guard size > 0, first >= end || bytes[first] & 0xc0 == 0x40 || (2...4).contains(bytes[first]) else { return }
        let (last, overflow) = start.addingReportingOverflow(size)
        if !overflow { functions.append(start..<last) }
    }

    /// The addresses that conditional branches lead to from a function outside of itself: parts of functions as a rule.
    ///
    /// - Parameters:
    ///   - code: the bytes of a section.
    ///   - base: its address.
    static func parts(
        reachedFrom function: Range<UInt64>, _ code: UnsafeRawBufferPointer, _ base: UInt64
    ) -> [UInt64] {
        guard let bytes = code.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return [] }
        var found: [UInt64] = []
        var at = Int(function.lowerBound - base)
        let end = Int(function.upperBound - base)
        while at < end {
            let instruction = fathom_instruction_at(bytes + at, end - at)
            if instruction.length == 0 { break }
            var distance: Int64 = 0
            let kind = fathom_branch(bytes + at, instruction, &distance)
            at += Int(instruction.length)
            guard Int(kind) == Int(FATHOM_MAY_BRANCH) else { continue }
            let target = base &+ UInt64(at) &+ UInt64(bitPattern: distance)
            if !function.contains(target) { found.append(target) }
        }
        return found
    }
}
