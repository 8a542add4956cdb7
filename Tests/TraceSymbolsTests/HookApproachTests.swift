import Testing

@testable import TraceSymbols

@Suite struct HookApproachTests {
    /// - Parameter code: ends with `call`, whose displacement is any.
    private func approach(_ code: [UInt8], then more: [UInt8] = []) -> HookApproach? {
        (code + more).withUnsafeBytes { HookApproach($0, at: 0x1000, hookReturn: 0x1000 + UInt64(code.count)) }
    }

    private func steps(_ location: ArgumentLocation?) -> [ArgumentStep]? {
        switch location {
        case .memory(let steps), .value(let steps): steps
        default: nil
        }
    }

    private static let call: [UInt8] = [0xe8, 0, 0, 0, 0]

    /// What gcc 12 makes of `int f(char a, char *b)` at -O2: push rbp; mov ebp, esi; push rbx; sub rsp, 8; mov rbx, rdi.
    @Test func registersThatAreSaved() throws {
        let found = try #require(
            approach([0x55, 0x89, 0xf5, 0x53, 0x48, 0x83, 0xec, 8, 0x48, 0x89, 0xfb] + Self.call))
        #expect(steps(found.place(of: .register(4), size: 4)) == [.register(6)])
        #expect(steps(found.place(of: .register(5), size: 8)) == [.register(3)])
        // Only the low half of it was moved.
        #expect(found.place(of: .register(4), size: 8) == nil)
        #expect(found.place(of: .register(1), size: 8) == nil)
    }

    /// What clang 21 makes of an argument at -O0: push rbp; mov rbp, rsp; sub rsp, 16; mov [rbp-16], rdi; call; and behind
    /// it mov rdi, [rbp-16]; mov [rbp-8], rdi.
    @Test func storedBehindTheHook() throws {
        let found = try #require(
            approach(
                [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 16, 0x48, 0x89, 0x7d, 0xf0] + Self.call,
                then: [0x48, 0x8b, 0x7d, 0xf0, 0x48, 0x89, 0x7d, 0xf8, 0xc3]))
        #expect(found.slot(register: 6, plus: -8) == -16)
        #expect(steps(found.origin(of: -16, size: 8)) == [.register(5)])
        #expect(found.origin(of: -12, size: 4) == nil)
        let first = ArgumentLocation.value([.register(5)])
        #expect(found.home(of: first, size: 8, slot: -16, isIndirect: false) == .proved)
        #expect(found.home(of: .value([.register(4)]), size: 8, slot: -16, isIndirect: false) == .contradicted)
        #expect(found.home(of: first, size: 8, slot: -8, isIndirect: false) == .unknown)
        #expect(steps(found.place(of: first, size: 8)) == [.register(7), .add(0)])
        // What came on the stack is where it was.
        #expect(steps(found.place(of: .memory([.register(7), .add(8)]), size: 8)) == [.register(7), .add(32)])
    }

    /// Swift clears the places of arguments of any size before it stores there: movw $0, [rbp-2]; movq $0, [rbp-8].
    @Test func clearedBehindTheHook() throws {
        let found = try #require(
            approach(
                [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 16, 0x48, 0x89, 0x7d, 0xf0] + Self.call,
                then: [0x48, 0x8b, 0x7d, 0xf0, 0x66, 0xc7, 0x45, 0xfe, 0, 0, 0x48, 0xc7, 0x45, 0xf8, 0, 0, 0, 0]
                    + [0x48, 0x89, 0x7d, 0xf8, 0xc3]))
        #expect(steps(found.origin(of: -16, size: 8)) == [.register(5)])
        #expect(steps(found.place(of: .register(5), size: 8)) == [.register(7), .add(0)])
    }

    /// What clang 21 makes of `int f(int a) { escape(&a); … }` at -O1: push rbx; push rax; mov ebx, edi; call; mov [rsp+4], ebx. The
    /// push only makes room.
    @Test func pushedForRoom() throws {
        let found = try #require(
            approach([0x53, 0x50, 0x89, 0xfb] + Self.call, then: [0x89, 0x5c, 0x24, 0x04, 0xc3]))
        #expect(found.slot(register: 7, plus: 4) == -12)
        #expect(found.origin(of: -16, size: 8) == nil)
        #expect(found.home(of: .value([.register(5)]), size: 4, slot: -12, isIndirect: false) == .proved)
        #expect(steps(found.place(of: .register(5), size: 4)) == [.register(3)])
    }

    /// The moves of processors with AVX: vmovss [rsp-4], xmm0; vmovsd [rsp-16], xmm1.
    @Test func movesWithThreeOperands() throws {
        let found = try #require(
            approach([0xc5, 0xfa, 0x11, 0x44, 0x24, 0xfc, 0xc5, 0xfb, 0x11, 0x4c, 0x24, 0xf0] + Self.call))
        #expect(steps(found.place(of: .register(17), size: 4)) == [.register(7), .add(-4)])
        #expect(steps(found.place(of: .register(18), size: 8)) == [.register(7), .add(-16)])
        #expect(found.place(of: .register(17), size: 8) == nil)
    }

    /// Two ways meet before the hook: what only one of them has moved is not known. test esi, esi; je +3; mov rbx, rdi.
    @Test func waysThatMeet() throws {
        let found = try #require(approach([0x85, 0xf6, 0x74, 3, 0x48, 0x89, 0xfb] + Self.call))
        #expect(found.place(of: .register(5), size: 8) == nil)
        let same = try #require(approach([0x48, 0x89, 0xfb, 0x85, 0xf6, 0x74, 2, 0x31, 0xc0] + Self.call))
        #expect(steps(same.place(of: .register(5), size: 8)) == [.register(3)])
    }

    /// Of code that does anything else before the hook, nothing is known.
    @Test func codeThatIsNotUnderstood() {
        #expect(approach([0xeb, 0xfe] + Self.call) == nil)
        #expect(approach([0x48, 0x89, 0x38] + Self.call) == nil)  // mov [rax], rdi
        #expect(approach([0x48]) == nil)
    }

    @Test(arguments: [
        ("p", ["p"], 0), ("p->next->name", ["p", "next", "name"], 0), ("r.in.x", ["r", "in", "x"], 0), ("*n", ["n"], 1),
        ("a.b->c", ["a", "b", "c"], 0),
    ])
    func paths(_ text: String, _ names: [String], _ dereferences: Int) throws {
        let path = try #require(ArgumentPath(text))
        #expect(path.names == names)
        #expect(path.dereferences == dereferences)
    }

    @Test(arguments: ["", "p->", "1", "a b", "p..x", "*", "a[1]"])
    func noPaths(_ text: String) { #expect(ArgumentPath(text) == nil) }
}
