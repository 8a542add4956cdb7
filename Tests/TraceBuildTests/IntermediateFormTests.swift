import TestSupport
import Testing

@testable import TraceBuild

@Suite struct IntermediateFormTests {
    /// Functions lose their hooks by name or by file; what else has the same attributes keeps them.
    @Test func hooksAreRemoved() throws {
        let directory = try TemporaryDirectory("intermediate")
        let text = #"""
            define dso_local i32 @"main one"(i32 noundef %0) #0 !dbg !10 {
            define internal void @_ZN1a4leafEv(ptr byval(%struct.s) align 8 %0) unnamed_addr #0 personality ptr @p !dbg !11 {
            define void @bare() #1 {
            declare void @other() #0
            attributes #0 = { noinline "instrument-function-entry-inlined"="__cyg_profile_func_enter" "instrument-function-exit-inlined"="__cyg_profile_func_exit" "target-cpu"="x86-64" }
            attributes #1 = { nounwind }
            !1 = !DIFile(filename: "a.c", directory: "/src")
            !2 = !DIFile(filename: "/inc/h.h", directory: "/src", checksumkind: CSK_MD5, checksum: "00")
            !10 = distinct !DISubprogram(name: "main one", scope: !1, file: !1, line: 3)
            !11 = distinct !DISubprogram(name: "leaf", linkageName: "_ZN1a4leafEv", scope: !2, file: !2, line: 9)
            """#
        let file = try directory.write(text, to: "a.ll")
        var asked: [String] = []
        try IntermediateForm.removeHooks(in: file) { function, place in
            asked.append("\(function) \(place)")
            return place == .file("/inc/h.h")
        }
        #expect(asked == [#"main one file("/src/a.c")"#, #"_ZN1a4leafEv file("/inc/h.h")"#, "bare hidden"])
        let result = String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n")
        #expect(result[0].contains(" #0 "))
        #expect(result[1].contains("unnamed_addr #2 personality"))
        #expect(result[3] == "declare void @other() #0")
        #expect(result[4].contains("__cyg_profile_func_enter"))
        #expect(result.last == #"attributes #2 = { noinline "target-cpu"="x86-64" }"#)
    }

    /// The parts of a coroutine get hooks of their own once there are parts; nothing tells where its function is from.
    @Test func coroutines() throws {
        let directory = try TemporaryDirectory("intermediate")
        let text = #"""
            define void @numbers() #0 {
            define void @plain() #1 {
            attributes #0 = { presplitcoroutine "instrument-function-entry"="__cyg_profile_func_enter" "instrument-function-exit"="__cyg_profile_func_exit" "x"="y" }
            attributes #1 = { "instrument-function-entry"="__cyg_profile_func_enter" "instrument-function-exit"="__cyg_profile_func_exit" }
            """#
        let file = try directory.write(text, to: "a.ll")
        try IntermediateForm.removeHooks(in: file) { _, place in
            #expect(place == .unknown)
            return false
        }
        let result = String(decoding: try readFile(file), as: UTF8.self).split(separator: "\n")
        #expect(result.count == 4)
        #expect(
            result[2]
                == #"attributes #0 = { presplitcoroutine "instrument-function-entry-inlined"="__cyg_profile_func_enter" "instrument-function-exit-inlined"="__cyg_profile_func_exit" "x"="y" }"#
        )
        #expect(result[3].contains(#""instrument-function-entry"="#))
    }
}
