import Testing

@testable import TraceSymbols

@Suite struct AddressLoadsTests {
    private func targets(_ code: [UInt8], isARM: Bool = false, isFixed: Bool = false) -> [[UInt64]] {
        code.withUnsafeBytes { AddressLoads($0[...], at: 0x1000, isARM: isARM, isFixed: isFixed).loads }
            .map { [$0.at, $0.target] }
    }

    @Test func x86() {
        let code: [UInt8] = [
            0x90,
            0x48, 0x8d, 0x3d, 0xf8, 0x0f, 0x00, 0x00,  // lea 0xff8(%rip),%rdi
            0x4c, 0x8d, 0x25, 0xf1, 0xff, 0xff, 0xff,  // lea -0xf(%rip),%r12
            0x48, 0x8d, 0x47, 0x10, 0x00, 0x00, 0x00,  // lea 0x10(%rdi),%rax
            0xbf, 0x00, 0x20, 0x40, 0x00,  // mov $0x402000,%edi
            0x90, 0x90,
        ]
        #expect(targets(code) == [[0x1001, 0x2000], [0x1008, 0x1000]])
        #expect(targets(code, isFixed: true).last == [0x1016, 0x402000])
        #expect(targets([0x48, 0x8d, 0x3d, 0, 0, 0]).isEmpty && targets([]).isEmpty)
    }

    @Test func aarch64() {
        let code: [UInt8] = [
            0x00, 0x00, 0x00, 0xb0,  // adrp x0, 0x2000
            0x1f, 0x20, 0x03, 0xd5,  // nop
            0x00, 0x80, 0x04, 0x91,  // add x0, x0, #0x120
            0x01, 0x00, 0x00, 0x90,  // adrp x1, 0x1000, of which nothing is made
            0xc0, 0x03, 0x5f, 0xd6,  // ret
        ]
        #expect(targets(code, isARM: true) == [[0x1000, 0x2120]])
    }
}
