internal import Glibc
internal import TraceSymbols

/// The form of closed sleds in what was linked. clang makes those in front of functions and tail calls as a jump over nine
/// bytes, which costs 2 to 6 % where functions are short; here they become one instruction that does nothing.
enum SledForm {
    /// A jump over nine bytes, as clang makes it (LLVM, X86MCInstLower.cpp).
    private static let jump: [UInt8] = [0xeb, 0x09, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00]
    /// `data16 data16 nopw %cs:0(%rax,%rax,1)`, in eleven bytes (Intel's manual, volume 2, NOP).
    static let nop: [UInt8] = [0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00]

    /// Changes the sleds of a program or library. Where that cannot be done, they stay as they are, which is as right.
    static func settle(_ path: String) {
        guard let sleds = try? Sleds(path: path).all, !sleds.isEmpty else { return }
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: nop.count)
        for sled in sleds where sled.kind != .exit {
            guard pread(descriptor, &bytes, bytes.count, Int(sled.offset)) == bytes.count, bytes == jump else {
                continue
            }
            _ = pwrite(descriptor, nop, nop.count, Int(sled.offset))
        }
    }
}
