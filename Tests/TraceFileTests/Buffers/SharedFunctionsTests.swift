import CTraceFormat
import Glibc
import TestSupport
import Testing

@testable import TraceFile

/// What traced processes are told of the functions that record options name.
@Suite struct SharedFunctionsTests {
    let directory: TemporaryDirectory
    let shared: SharedFunctions
    let path: String

    init() throws {
        directory = try TemporaryDirectory("functions")
        path = directory.file("session.fathom")
        var all = FunctionRule()
        all.selection = [.only, .hidden]
        all.trigger.actions = [.mark]
        shared = try SharedFunctions(
            in: try SessionDirectory(creating: path), all: all, levels: 3, textLimit: 64, clock: SessionClock())
    }

    private var bytes: [UInt8] {
        get throws {
            let file = open("\(path)/functions", O_RDONLY)
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: Int(lseek(file, 0, SEEK_END)))
            try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
            return bytes
        }
    }

    @Test func headSaysWhatCanHappen() throws {
        let head = try bytes.withUnsafeBytes { $0.loadUnaligned(as: fathom_functions.self) }
        #expect(head.magic == FATHOM_FUNCTIONS_MAGIC && head.levels == 3)
        #expect(head.says == FATHOM_SAYS_ONLY | FATHOM_SAYS_HIDDEN | FATHOM_SAYS_TRIGGER)
        #expect(head.trigger_does == FATHOM_TRIGGER_MARK && head.table_count == 0)
    }

    @Test func tableOfAModule() throws {
        var rule = FunctionRule()
        rule.selection = .hidden
        rule.trigger.actions = .mark
        let module = ModuleFile(path: "/lib/a.so", buildID: [1, 2, 3])
        shared.tell([NamedFunction(name: "work", addresses: [0x1000, 0x1004], rule: rule)], of: module)
        shared.tell(nil, of: ModuleFile(path: "/lib/b.so", buildID: []))
        shared.tell([], of: module)  // a module is told once
        let bytes = try bytes
        try bytes.withUnsafeBytes { bytes in
            let head = bytes.loadUnaligned(as: fathom_functions.self)
            try #require(head.table_count == 2)
            let start = MemoryLayout<fathom_functions>.offset(of: \.tables)!
            let first = bytes.loadUnaligned(fromByteOffset: start, as: fathom_function_table.self)
            let second = bytes.loadUnaligned(fromByteOffset: start + 32, as: fathom_function_table.self)
            #expect(first.key == fathom_module_key([1, 2, 3] as [UInt8], 3, "", 0) && first.words == 2)
            #expect(second.key == fathom_module_key("", 0, "/lib/b.so", 9) && second.words == FATHOM_TABLE_UNKNOWN)
            // Triggers without limits come behind those that may set some.
            let says = UInt64(FATHOM_SAYS_HIDDEN) | UInt64(FATHOM_LIMIT_LIMIT + 1) << 4
            let word = bytes.loadUnaligned(fromByteOffset: Int(first.offset), as: UInt64.self)
            #expect(word == 0x1000 << 16 | says)
            let name = bytes.loadUnaligned(fromByteOffset: Int(first.offset) + 16, as: fathom_function_name.self)
            #expect(name.address == 0x1000 && name.size == 4 && first.names_size == 48)
            #expect(bytes[(Int(first.offset) + 32)...].starts(with: "work".utf8))
        }
    }

    @Test func requestsInTheirOrder() throws {
        #expect(shared.nextRequest() == nil)
        let file = open("\(path)/functions", O_RDWR)
        defer { close(file) }
        let size = Int(FATHOM_FUNCTIONS_HEAD)
        let memory = try #require(mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0))
        defer { munmap(memory, size) }
        let head = memory.assumingMemoryBound(to: fathom_functions.self)
        let text = [7, 8] + Array("/lib/c.so".utf8)
        for number in 1...2 as ClosedRange<UInt32> {
            let place = memory + MemoryLayout<fathom_functions>.offset(of: \.requests)! + Int(number - 1) * 1024
            place.storeBytes(of: number, as: UInt32.self)
            place.storeBytes(of: 2, toByteOffset: 4, as: UInt16.self)
            place.storeBytes(of: UInt16(text.count - 2), toByteOffset: 6, as: UInt16.self)
            (place + 8).copyMemory(from: text, byteCount: text.count)
            head.pointee.requested = number
        }
        let first = try #require(shared.nextRequest())
        #expect(first.path == "/lib/c.so" && first.buildID == [7, 8])
        shared.finishRequest()
        #expect(head.pointee.answered == 1 && shared.nextRequest() != nil)
        shared.finishRequest()
        #expect(shared.nextRequest() == nil)
    }
}
