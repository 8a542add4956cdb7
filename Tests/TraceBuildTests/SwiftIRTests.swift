import Testing

@testable import TraceBuild

@Suite struct SwiftIRTests {
    private let mark = "\"instrument-function-entry-inlined\"=\"__cyg_profile_func_enter\""

    private func marked(_ module: String, optimizes: Bool = true) -> [Substring] {
        var result = String(decoding: SwiftIR.marked(Array(module.utf8), optimizes: optimizes), as: UTF8.self)
        let tag = result.firstMatch(of: /\n!llvm.commandline = !\{!(\d+)\}\n!(\d+) = !\{!"-finstrument-functions"\}\n$/)
        #expect(tag.map { $0.1 == $0.2 && !module.contains("!\($0.1) = ") } == true)
        if let tag { result.removeSubrange(tag.range) }
        let kept = result.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.replacing(" \(mark) \"instrument-function-exit-inlined\"=\"__cyg_profile_func_exit\"", with: "")
        }
        #expect(kept.joined(separator: "\n") == module, "nothing else changes")
        return result.split(separator: "\n").filter { $0.contains(mark) }
    }

    @Test func writtenFunctionsAreMarked() {
        let heads = marked(
            """
            @text = private constant [14 x i8] c"define @f() #0"
            define protected swiftcc double @"$s3app6CircleV4areaSdyF"(double %0) #1 !dbg !57 {
              ret double %0
            }
            declare swiftcc void @"$s3app5otheryyF"() #0
            define i32 @main(i32 %0, ptr %1) #0 section "a #5" !dbg !6 {
              ret i32 0
            }
            attributes #0 = { "frame-pointer"="all" }
            attributes #1 = { noinline "frame-pointer"="all" }
            !0 = !{!7}
            !57 = !{!0}

            """)
        #expect(heads.count == 2)
        #expect(heads[0].contains("#1 \(mark)"))
    }

    @Test func whatTheCompilerMadeIsNot() {
        let heads = marked(
            """
            define linkonce_odr hidden ptr @"$s3app5Shape_pWOc"(ptr %0, ptr %1) #0 {
              ret ptr %1
            }
            define linkonce_odr hidden ptr @__swift_project_boxed_opaque_existential_1(ptr %0, ptr %1) #0 {
              ret ptr %0
            }
            define hidden swiftcc %swift.metadata_response @"$s3app6CircleVMa"(i64 %0) #0 {
              ret %swift.metadata_response undef
            }
            attributes #0 = { noinline nounwind }

            """)
        #expect(heads.isEmpty)
    }

    /// A witness that calls what it stands for is left alone, unless LLVM may put that into it.
    @Test(arguments: [(false, "noinline ", 1), (true, "noinline ", 1), (false, "", 1), (true, "", 2)])
    func thunks(optimizes: Bool, attribute: String, count: Int) {
        let heads = marked(
            """
            define protected swiftcc double @"$s3app6CircleV4areaSdyF"(double %0) #1 {
              ret double %0
            }
            define hidden swiftcc double @"$s3app6CircleVAA5ShapeA2aDP4areaSdyFTW"(ptr %0) #0 {
              %1 = call swiftcc double @"$s3app6CircleV4areaSdyF"(double 0.0)
              ret double %1
            }
            attributes #0 = { nounwind }
            attributes #1 = { \(attribute)nounwind }

            """, optimizes: optimizes)
        #expect(heads.count == count)
    }

    /// A class has its own version called by its table.
    @Test func thunksThatCallSomethingElse() {
        let heads = marked(
            """
            define swiftcc void @"$s3app5otheryyF"() #1 {
              ret void
            }
            define hidden swiftcc double @"$s3app6CircleVAA5ShapeA2aDP4areaSdyFTW"(ptr %0) #0 {
              call swiftcc void @"$s3app5otheryyF"()
              ret double 0.0
            }
            attributes #0 = { nounwind }
            attributes #1 = { noinline }

            """)
        #expect(heads.count == 2)
    }

    @Test func damagedModules() {
        for text in [
            "", "define", "define @", "define @\"", "define void @f() #", "define void @f() #0 {", "attributes #",
        ] {
            _ = marked(text)
        }
    }
}

@Suite struct CompilationTests {
    @Test func objectFilesTakeAWayThroughAssembly() throws {
        let arguments = [
            "-frontend", "-c", "-primary-file", "a.swift", "b.swift", "-O", "-target", "x86_64", "-g", "-module-name",
            "m",
            "-Xllvm", "-x=0", "-o", "a.o",
        ]
        let compilation = try #require(try Compilation(arguments))
        #expect(compilation.optimizes)
        #expect(
            compilation.toIR == [
                "-frontend", "-emit-irgen", "-primary-file", "a.swift", "b.swift", "-O", "-target", "x86_64", "-g",
                "-module-name", "m", "-Xllvm", "-x=0", "-o", "a.o.fathom.ll",
            ])
        #expect(
            compilation.toObject("a.o").starts(with: [
                "-frontend", "-c", "-O", "-target", "x86_64", "-module-name", "m", "-Xllvm", "-x=0",
            ]))
        #expect(compilation.toObject("a.o").suffix(3) == ["a.o.fathom.ll", "-o", "a.o"])
    }

    /// SwiftPM finds tests in the index, by the object file.
    @Test func indexGoesByTheObjectFile() throws {
        let compilation = try #require(
            try Compilation(["-frontend", "-c", "a.swift", "-index-store-path", "i", "-o", "a.o"]))
        #expect(compilation.toIR.suffix(4) == ["-index-unit-output-path", "a.o", "-o", "a.o.fathom.ll"])
    }

    /// Code that the linker makes, and code that counts how often it runs, is made as the options say.
    @Test func optionsOfCode() throws {
        let lto = ["-frontend", "-emit-bc", "a.swift", "-lto=llvm-full", "-o", "a.swift.bc"]
        let linked = try #require(try Compilation(lto)).toObject("a.swift.bc")
        #expect(linked.starts(with: ["-frontend", "-emit-bc", "-lto=llvm-full"]))
        #expect(linked.suffix(3) == ["a.swift.bc.fathom.ll", "-o", "a.swift.bc"])
        let counted = ["-frontend", "-c", "a.swift", "-profile-generate", "-profile-coverage-mapping", "-o", "a.o"]
        #expect(
            try #require(try Compilation(counted)).toObject("a.o")
                .starts(with: ["-frontend", "-c", "-profile-generate", "-profile-coverage-mapping"]))
    }

    @Test(arguments: [
        ["-frontend", "-emit-module", "a.swift", "-o", "a.swiftmodule"], ["-modulewrap", "a.swiftmodule", "-o", "a.o"],
        ["-frontend", "-c", "a.bc", "-o", "a.o"], ["-frontend", "-emit-bc", "a.ll", "-o", "a.bc"],
        ["-frontend", "-c", "a.swift"], ["-print-target-info"], [],
    ])
    func restIsLeftToTheCompiler(arguments: [String]) throws {
        #expect(try Compilation(arguments) == nil)
    }
}

@Suite struct ResponseFileTests {
    @Test func wordsKeepWhatIsQuoted() {
        #expect(ResponseFile.words(#""a b" c\ d  'e"f'"# + "\n\"\"") == ["a b", "c d", #"e"f"#, ""])
    }
}
