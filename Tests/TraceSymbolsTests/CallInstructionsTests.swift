import Testing

@testable import TraceSymbols

@Suite struct CallInstructionsTests {
    private func read(_ code: [UInt8], isARM: Bool = false) -> CallInstructions {
        code.withUnsafeBytes { CallInstructions($0, at: 0x1000, isARM: isARM) }
    }

    @Test func x86() {
        let calls = read([
            0x55,  // push rbp
            0xe8, 0xfb, 0x0f, 0x00, 0x00,  // call 0x2001
            0xff, 0x50, 0x10,  // call *0x10(%rax)
            0xff, 0xc0,  // inc eax
            0xe9, 0xf0, 0xff, 0xff, 0xff,  // jmp 0x1000
        ])
        #expect(calls.targets == [0x2001, 0x1000])
        #expect(calls.indirectCount == 1)
        #expect(read([0xe8, 0, 0, 0]).targets.isEmpty && read([0xff]).indirectCount == 0 && read([]).targets.isEmpty)
    }

    @Test func aarch64() {
        let calls = read(
            [
                0x00, 0x04, 0x00, 0x94,  // bl 0x2000
                0xff, 0xff, 0xff, 0x17,  // b 0x1000
                0x00, 0x01, 0x3f, 0xd6,  // blr x8
                0x20, 0x00, 0x1f, 0xd6,  // br x1
                0xc0, 0x03, 0x5f, 0xd6,  // ret
                0x94,
            ], isARM: true)
        #expect(calls.targets == [0x2000, 0x1000])
        #expect(calls.indirectCount == 2)
    }
}
