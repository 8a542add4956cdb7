import Testing

@testable import TraceSymbols

@Suite struct SwiftNameTests {
    @Test(
        arguments: [
            ("app.total([app.Shape]) -> Swift.Double", "total(_:)", .written),
            ("app.Circle.init(r: Swift.Double) -> app.Circle", "Circle.init(r:)", .written),
            ("app.Circle.r.getter : Swift.Double", "Circle.r.getter", .written),
            ("app.Box.subscript.getter : (key: Swift.String) -> Swift.Int", "Box.subscript.getter", .written),
            (
                "static app.Parser.parse(_: Swift.String, options: [Swift.Int]) throws -> ()",
                "static Parser.parse(_:options:)", .written
            ),
            (
                "(extension in app):Swift.Sequence.sorted(by: (A.Element, A.Element) throws -> Swift.Bool) throws -> [A.Element]",
                "Sequence.sorted(by:)", .written
            ),
            ("app.largest<A where A: Swift.Comparable>([A]) -> A?", "largest(_:)", .written),
            ("app.Outer<A>.Inner<B>.run() -> ()", "Outer.Inner.run()", .written),
            ("static app.Point.== infix(app.Point, app.Point) -> Swift.Bool", "static Point.==(_:_:)", .written),
            ("static app.Point.< infix(app.Point, app.Point) -> Swift.Bool", "static Point.<(_:_:)", .written),
            ("app.<- infix<A>(A, (A) -> A) -> A", "<-(_:_:)", .written),
            (
                "static app.Failure.__derived_enum_equals(app.Failure, app.Failure) -> Swift.Bool",
                "static Failure.==(_:_:)", .written
            ),
            ("app.(helper in _0123ABCD)(Swift.Int) -> ()", "helper(_:)", .written),
            ("app.(Type in _0123ABCD).run(then: () -> ()) -> ()", "Type.run(then:)", .written),
            ("(Local #1 in app.main() -> ()).run() -> ()", "Local.run()", .written),
            (
                "local #1 (Swift.Int) -> Swift.Int in app.closures(Swift.Int) -> Swift.Int", "local #1 in closures(_:)",
                .written
            ),
            (
                "closure #2 (Swift.Int) -> Swift.Int in closure #1 () -> () in static app.App.main() async -> ()",
                "closure #2 in closure #1 in static App.main()", .written
            ),
            (
                "implicit closure #1 @Sendable (Swift.Int) -> () in app.f() -> ()", "implicit closure #1 in f()",
                .written
            ),
            (
                "default argument 1 of Swift.print(_: Any..., separator: Swift.String, terminator: Swift.String) -> ()",
                "default argument 1 of print(_:separator:terminator:)", .written
            ),
            ("one-time initialization function for shared", "initial value of shared", .written),
            (
                "generic specialization <Swift.Int> of app.largest<A where A: Swift.Comparable>([A]) -> A?",
                "largest(_:)", .variant
            ),
            (
                "function signature specialization <Arg[0] = [Closure Propagated : $s1af, Argument Types : []> of "
                    + "generic specialization <Swift.Int> of app.apply<A>(to: A) -> ()", "apply(to:)", .variant
            ),
            (
                "(3) suspend resume partial function for static app.App.main() async -> ()",
                "static App.main() (resumed)", .variant
            ),
            (
                "protocol witness for app.Shape.area() -> Swift.Double in conformance app.Circle : app.Shape in app",
                "Circle.area()", .thunk
            ),
            (
                "protocol witness for static Swift.Equatable.== infix(A, A) -> Swift.Bool in conformance <A> app.Box<A> : "
                    + "Swift.Equatable in app", "static Box.==(_:_:)", .thunk
            ),
            ("partial apply forwarder for closure #1 (Swift.Int) -> () in app.f() -> ()", "closure #1 in f()", .thunk),
            ("app.Square.__allocating_init(s: Swift.Double) -> app.Square", "Square.init(s:)", .thunk),
            ("app.Square.__deallocating_deinit", "Square.deinit", .thunk),
            ("reabstraction thunk helper from @escaping () -> () to @escaping () -> (@out ())", nil, .compilerMade),
            (
                "partial apply forwarder for reabstraction thunk helper from () -> () to () -> (@out ())", nil,
                .compilerMade
            ),
            ("outlined init with copy of app.Shape", nil, .compilerMade),
            ("type metadata accessor for app.Circle", nil, .compilerMade),
            ("getEnumTagSinglePayload value witness for app.Failure", nil, .compilerMade),
            (
                "lazy protocol witness table accessor for type app.F and conformance app.F : Swift.Error in app", nil,
                .compilerMade
            ),
            ("variable initialization expression of app.Counter.n : Swift.Int", nil, .compilerMade),
            ("app.shared.unsafeMutableAddressor : Swift.Int", nil, .compilerMade),
        ] as [(String, String?, SwiftName.Kind)])
    func declarations(text: String, name: String?, kind: SwiftName.Kind) {
        let swift = SwiftName(demangled: text)
        #expect(swift.kind == kind)
        if let name { #expect(swift.name == name) }
    }

    @Test func linkageNames() {
        #expect(SwiftName("main") == nil && SwiftName("_ZN1a1bEv") == nil && SwiftName("$snonsense") == nil)
        #expect(SwiftName("__swift_memcpy0_1")?.kind == .compilerMade)
        #expect(SwiftName("block_copy_helper.4")?.kind == .compilerMade && SwiftName("block_copy_helpers") == nil)
        #expect(SwiftName("$s4demo3FooV3bar1xS2i_tF")?.name == "Foo.bar(x:)")
        #expect(SwiftName("$s3app6CircleV1rSdvM.resume.0")?.name == "Circle.r.modify (resumed)")
        #expect(SwiftName("$s3app6CircleV1rSdvM.cold")?.name == "Circle.r.modify")
    }

    /// The code of main.swift, which the compiler names otherwise than the rest.
    /// Names that macros make, as `@Test` and `@Suite` do, are spelt out.
    @Test(arguments: [
        (
            "$s9CoreTests03$s9A39Tests1g4TestfMp_17Z66acbc7e95228dcafMu_33_ABA04C9B652F52675F978120701BC4BCLLyyYaYbKF",
            "@Test g"
        ),
        (
            "$s9CoreTests03$s9A47Tests1g4TestfMp_25generator66acbc7e95228dcafMu_33_ABA04C9B652F52675F978120701BC4BCLL7Testing4TestVyYaYbF",
            "@Test g generator"
        ),
        (
            "$s9CoreTests03$s9A31Tests1S5SuitefMp_9generatorfMu_33_ABA04C9B652F52675F978120701BC4BCLL7Testing4TestVyYaYbF",
            "@Suite S generator"
        ),
        (
            "$s9CoreTests1SV03$s9A45Tests1SV5plain4TestfMp_16b60cae9bb2fa34c0fMu_33_ABA04C9B652F52675F978120701BC4BCLLyyYaYbKFZ",
            "@Test plain"
        ),
    ])
    func macros(_ linkageName: String, _ part: String) throws {
        let name = try #require(SwiftName(linkageName)).name
        for shown in [name, demangle(linkageName)] {
            #expect(shown.contains(part) && !shown.contains("$s") && !shown.contains("fMu"), "\(shown)")
        }
    }

    @Test func asynchronousMain() throws {
        let main = try #require(SwiftName("async_Main"))
        #expect(main.name == "main" && main.kind == .written && main.identity == main.whole)
        for linkageName in ["async_MainTQ0_", "async_MainTY0_", "async_MainTQ3_", "async_MainTY12_"] {
            let part = try #require(SwiftName(linkageName))
            #expect(part.name == "main (resumed)" && part.kind == .variant)
            #expect(part.whole == main.whole && part.identity != main.identity)
        }
        let start = try #require(SwiftName("$sIetH_yts5Error_pIegHrzo_TR10async_MainTf3npf_n"))
        #expect(start.kind == .thunk && start.name == "main" && start.whole == main.whole && start.leads(to: main))
        #expect(SwiftName("$sIetH_yts5Error_pIegHrzo_TR10async_MainTf3npf_nTQ0_")?.name == "main (resumed)")
        #expect(SwiftName("$sIetH_yts5Error_pIegHrzo_TR")?.kind == .compilerMade)
        #expect(SwiftName("async_Mainly") == nil && SwiftName("async_Main2TQ0_") == nil)
    }

    /// What a function goes on with is it, where it is shown as one; an accessor's second half is not asynchronous.
    @Test func partsAsWhole() throws {
        for stem in ["$s5tasks5pauseyySiYaF", "async_Main"] {
            let start = try #require(SwiftName(stem))
            let part = try #require(SwiftName(stem + "TQ1_"))
            #expect(part.name == start.name + " (resumed)" && part.identity != start.identity)
            #expect(part.asWhole.name == start.name && part.asWhole.identity == start.identity)
            #expect(part.asWhole.whole == start.whole && start.asWhole == start)
        }
        let accessor = try #require(SwiftName("$s3app6CircleV1rSdvM.resume.0"))
        #expect(accessor.asWhole == accessor)
    }

    /// Versions of one function are told from overloads, which have one name.
    @Test func identities() throws {
        let generic = try #require(SwiftName("$s3app7largestySxSgSayxGSLRzlF"))
        let specialized = try #require(SwiftName("$s3app7largestySxSgSayxGSLRzlFSi_Tg5"))
        #expect(generic.identity != nil && generic.identity == specialized.identity)
        let (first, second) = (SwiftName("$s3app1fyySiF"), SwiftName("$s3app1fyySSF"))
        #expect(first?.name == second?.name && first?.identity != second?.identity)
    }

    @Test func thunksLeadToOneMember() {
        let thunk = SwiftName(name: "Circle.area()", kind: .thunk)
        #expect(thunk.leads(to: SwiftName(name: "Circle.area()", kind: .written)))
        #expect(thunk.leads(to: SwiftName(name: "Shape.area()", kind: .variant)))
        #expect(!thunk.leads(to: SwiftName(name: "Circle.area(of:)", kind: .written)))
        #expect(!thunk.leads(to: SwiftName(name: "Circle.area()", kind: .compilerMade)))
        let getter = SwiftName(name: "Circle.width.getter", kind: .thunk)
        #expect(!getter.leads(to: SwiftName(name: "Circle.height.getter", kind: .written)))
    }

    /// What parameters are passed by another way only calls the version that does it.
    @Test func specializedSignatures() throws {
        let name = try #require(SwiftName("$s3app1fyySiF"))
        #expect(name.onlyLeads(to: "$s3app1fyySiFTf4d_n", from: "$s3app1fyySiF"))
        #expect(!name.onlyLeads(to: "$s3app1fyySiFTf4c_n", from: "$s3app1fyySiF"))
        #expect(!name.onlyLeads(to: "$s3app1gyySiF", from: "$s3app1fyySiF"))
    }

    /// Whatever the demangler says, something comes back.
    @Test func damagedText() {
        let text =
            "protocol witness for static app.(P in _AB).== infix(A, b: [A]) -> <B> in conformance <A> app.Box<A> : P in m"
        for length in 0...text.count {
            #expect(!SwiftName(demangled: String(text.suffix(length))).name.contains("\n"))
            _ = SwiftName(demangled: String(text.prefix(length)))
        }
    }
}
