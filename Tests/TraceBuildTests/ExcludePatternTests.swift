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
}
