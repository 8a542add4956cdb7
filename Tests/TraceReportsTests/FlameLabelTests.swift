import Testing
import TraceAnalysis

@testable import TraceReports

@Suite struct FlameLabelTests {
    @Test(arguments: [
        ("main", "main"), ("std::map<int, std::vector<Node>>::find", "std::map<…>::find"),
        ("operator<< <int>", "operator<< <…>"), ("a::operator<", "a::operator<"), ("operator<=>", "operator<=>"),
        ("Pointer<T>::operator->", "Pointer<…>::operator->"), ("operator->*<A>", "operator->*<…>"),
        ("f<(a -> b)>::g", "f<…>::g"), ("f<1", "f<1"), ("Box<Int>.get() -> Int", "Box<…>.get() -> Int"),
        ("main::<lambda(int)>::operator()", "main::<lambda…>::operator()"), ("データ<型>::検索", "データ<…>::検索"),
    ])
    func argumentsAreFolded(_ name: String, _ folded: String) {
        #expect(FlameLabel.folded(name) == folded)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abcde…"), ("検索する", 8, "検索する"), ("検索する", 7, "検索す…"),
        ("検索する", 6, "検索…"), ("e\u{301}cole", 5, "e\u{301}cole"), ("abc", 1, "…"),
    ])
    func lettersAreMeasured(_ text: String, _ letters: Int, _ fitted: String) {
        #expect(FlameLabel.fitted(text, letters: letters) == fitted)
    }

    @Test(arguments: [
        ("llvm::ir::Value::print", nil, "llvm"), ("std::map<a::b, int>::find", nil, "std"),
        ("main", "a.c", "no namespace"),
        ("static Math.run()", "a.swift", "Math"), ("closure #1 in closure #2 in Parser.run()", "a.swift", "Parser"),
        ("numbers.resume", "a.cpp", "no namespace"), ("(anonymous namespace)::f", nil, "(anonymous namespace)"),
        ("Square::operator()", nil, "Square"),
    ])
    func namespaces(_ name: String, _ file: String?, _ namespace: String) {
        let function = ResolvedFunction(name: name, module: nil, file: file, line: 1)
        #expect(FlameGroups.namespace(function) == namespace)
    }

    @Test func filesAreNamedFromWhereTheyDiffer() {
        func files(_ paths: [String?]) -> [String] {
            FlameGroups.files(paths.map { ResolvedFunction(name: "f", module: nil, file: $0, line: 1) })
        }
        #expect(files(["/src/a/x.c", "/src/b/x.c", nil]) == ["a/x.c", "b/x.c", "no source"])
        #expect(files(["/src/a/x.c"]) == ["x.c"])
        #expect(files(["/src/x.c", "/src/a/x.c", "lib/y.c"]) == ["/src/x.c", "/src/a/x.c", "lib/y.c"])
        #expect(files([nil]) == ["no source"])
    }

    /// The group with the most own time has the first colour.
    @Test func groupsGoByOwnTime() {
        let groups = FlameGroups(["a", "b", "a", "c"], weights: [1, 5, 3, 4])
        #expect(groups.names == ["b", "a", "c"] && groups.of == [1, 0, 1, 2])
    }
}
