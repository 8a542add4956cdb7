import Testing

@testable import TraceBuild

@Suite struct ExcludePatternTests {
    /// What gcc writes otherwise than Fathom is left open.
    @Test(arguments: [
        ("luaH_getint", "luaH_getint"),
        ("ns::Square::area", "ns::Square::area"),
        ("std::vector<int, std::allocator<int> >::size", "*::size"),
        ("std::distance<char const*>", "std::distance<*"),
        ("a<b>::c<d<e>>", "*::c<*"),
        ("std::string::append", "*::append"), ("std::to_string", "*::to_string"),
        ("ns::(anonymous namespace)::hash", "*::hash"),
        ("ns::P::operator[]", "ns::P::operator[]"),
        ("std::vector<int>::operator[]", "*::operator[]"),
        ("ns::P::operator<", "ns::P::operator<"),
        ("ns::P::operator()", "ns::P::operator()"),
        ("std::vector<int>::~vector", "*::~vector"),
        ("cooperator<int>", "cooperator<*"),
        ("hash.lto_priv.0", "hash*"),
        ("main::{lambda(int)#1}::operator()", nil),
        ("f(int)::Local::get", nil),
        ("operator<< <char>", nil),
        ("name # comment", nil), ("# name", nil), ("two\nlines", nil), ("", nil),
    ])
    func patterns(_ name: String, _ pattern: String?) { #expect(ExcludePattern.of(name) == pattern) }

    @Test(arguments: [
        ("get", "get", true), ("get", "get_all", true), ("get_all", "get", false),
        ("*::size", "std::vector<int>::size", true), ("*::size", "ns::size_of", true), ("*::size", "size", false),
        ("get*", "forget", true), ("*", "anything", true),
    ])
    func whatGoes(_ pattern: String, _ name: String, _ goes: Bool) {
        #expect(ExcludePattern.leavesOut(pattern, name) == goes)
    }

    /// A list is read back as it was written.
    @Test func comments() { #expect(ExcludeList.name(in: "*::operator[]  # 12 % of calls\n") == "*::operator[]") }

    @Test(arguments: [
        ("app::Lexer::next", "/w/src/lexer.h", ["app::*", "app::Lexer::*", "file: lexer.h"]),
        ("std::vector<a::b>::size", nil, ["std::*"]), ("(anonymous namespace)::f", "/w/a b.cc", ["file: a b.cc"]),
        ("main", "/w/a #b.c", []),
        ("std::string::append", nil, ["std::*"]), ("operator<<", nil, []),
    ])
    func groups(_ name: String, _ file: String?, _ lines: [String]) {
        #expect(ExcludeGroup.lines(of: name, in: file) == lines)
        for line in lines { #expect(ExcludeGroup.leavesOut(line, name, in: file), "\(line)") }
    }

    @Test func groupsOfOthers() {
        #expect(!ExcludeGroup.leavesOut("app::*", "main", in: "/w/app.c"))
        #expect(ExcludeGroup.leavesOut("Env::*", "BindingEnv::get", in: nil), "gcc takes it for a part")
        #expect(
            !ExcludeGroup.leavesOut("file: a.h", "f", in: "/w/b.h")
                && !ExcludeGroup.leavesOut("file: a.h", "f", in: nil))
        #expect(ExcludeGroup.leavesOut("file: a.h", "f", in: "/w/data.h"), "gcc takes it for a part")
    }

    @Test(arguments: [
        ("/usr/include/c++/12/bits/stl_vector.h", "file: /usr/include/*"),
        ("/usr/local/include/x.h", "file: /usr/local/include/*"),
        ("/usr/lib/gcc/x86_64-linux-gnu/12/include/xmmintrin.h", "file: /usr/lib/gcc/*"),
        ("/opt/gcc/include/c++/13/vector", "file: /opt/gcc/include/c++/*"),
        ("/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/vector", "file: /usr/include/*"),
        ("/usr/src/app/main.c", nil),
        ("/home/me/include/a.h", nil),
    ])
    func systemHeaders(_ file: String, _ line: String?) {
        #expect(ExcludeGroup.systemHeaders(with: file) == line)
        if let line { #expect(ExcludeGroup.leavesOut(line, "f", in: file)) }
    }

    /// The C++ library exports some of its headers' functions, and has no debug information for them.
    @Test(arguments: [
        ("std::string::append", ["/w/a.cc", "/opt/gcc/include/c++/13/vector"], "file: /opt/gcc/include/c++/*"),
        ("std::string::append", ["/w/a.cc"], "file: /usr/include/*"),
        ("__gnu_cxx::__to_xstring<std::string>", [], "file: /usr/include/*"),
        ("standard::run", ["/usr/include/c++/12/vector"], nil), ("main", [], nil),
    ])
    func filesOfExportedFunctions(_ name: String, _ files: [String], _ line: String?) {
        let file = ExcludeGroup.presumedFile(of: name, among: files)
        #expect(file.flatMap(ExcludeGroup.systemHeaders) == line)
        if let line { #expect(ExcludeGroup.leavesOut(line, name, in: file)) }
    }
}
