import TestSupport
import Testing

@testable import TraceSymbols

@Suite struct DemanglerTests {
    @Test(arguments: [
        ("main", "main"),
        ("memcpy@@GLIBC_2.14", "memcpy"),
        ("parse.constprop.0", "parse.constprop.0"),
        ("_ZN2ns4callEi", "ns::call"),
        ("_ZNK2ns5ClassIiE6methodEi", "ns::Class<int>::method"),
        ("_ZN2ns12_GLOBAL__N_16hiddenEi", "ns::(anonymous namespace)::hidden"),
        ("_ZN2ns5twiceIiEET_S1_", "ns::twice<int>"),
        ("_ZNK2ns5ClassIiEltERKS1_", "ns::Class<int>::operator<"),
        ("_ZNK2ns5ClassIiEcviEv", "ns::Class<int>::operator int"),
        ("_ZN7FunctorclEi", "Functor::operator()"),
        ("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}"),
        ("_ZZZ3foovENKUlvE_clEvENKUliE_clEi", "foo::{lambda#1}::{lambda(int)#1}"),
        ("_ZThn8_N4Both1gEv", "non-virtual thunk to Both::g"),
        ("_ZTv0_n24_N4Both1gEv", "virtual thunk to Both::g"),
        ("_Z4pickIiEPFicET_", "pick<int>"),
        ("_ZlsIcERSoS0_T_", "operator<< <char>"),
        ("_ZN1XnwEm", "X::operator new"),
        ("_ZN1XixEi", "X::operator[]"),
        ("_ZN4BaseD0Ev", "Base::~Base"),
        ("_Z4textB5cxx11v", "text"),
        ("_ZNSt8functionIFiiEEC2ERKS1_", "std::function<int (int)>::function"),
        ("_ZNKSt8functionIFvvEEcvbEv", "std::function<void ()>::operator bool"),
        ("_ZN3FooIXadL_Z3barvEEE1fEv", "Foo<&(bar())>::f"),
        ("_Z4coldPKc.part.0.cold", "cold.part.0.cold"),
        ("_Z1fIiEDTcl1gfp_EET_", "f<int>"),
        ("_ZNO1X4takeEv", "X::take"),
        ("_Znot_a_name", "_Znot_a_name"),
        ("_Z", "_Z"),
    ])
    func cxx(_ linkageName: String, _ name: String) {
        #expect(demangle(linkageName) == name)
    }

    /// What clang says for C++20's constraints, which libstdc++ reads since GCC 13 only.
    @Test(arguments: [
        ("_Z3addITkSt8integraliET_S0_S0_", "add<int>"),
        ("_Z3genITkSt8integraliTkSt14floating_pointdEDaT_T0_", "gen<int, double>"),
        ("_Z3mulIiET_S0_QgtstS0_Li2E", "mul<int>"),
        ("_Z3subIiQsr3stdE8integralIT_EES0_S0_", "sub<int>"),
        ("_Z3sumITpTkSt8integralJilEEiDpT_", "sum<int, long>"),
        ("_ZN3BoxIiE2asITkSt14convertible_toIT_EdEES3_v", "Box<int>::as<double>"),
        ("_ZN3BoxIiE3getEvQsr3stdE8integralIT_E", "Box<int>::get"),
        ("_ZZ3addITkSt8integraliET_S0_ENKUliE_clEi", "add<int>::{lambda(int)#1}"),
        ("_Z1fITkSt8integraliTkSt8", "_Z1fITkSt8integraliTkSt8"),
    ])
    func constrained(_ linkageName: String, _ name: String) {
        #expect(demangle(linkageName) == name)
    }

    /// Names that the C++ library has are what they were when the constraints that they do not have are taken out.
    @Test func namesWithoutConstraints() throws {
        let library = try run("g++", ["-print-file-name=libstdc++.so.6"]).stdout.split(separator: "\n").first
        let symbols = try run("nm", ["-D", "--defined-only", "-j", String(try #require(library))]).stdout
        var read = 0
        var unread = 0
        for symbol in symbols.split(separator: "\n") {
            let name = symbol.prefix { $0 != "@" }
            guard name.hasPrefix("_Z"), !name.hasPrefix("_ZT"), !name.hasPrefix("_ZG") else { continue }
            guard let simplified = ConstrainedCXXName.simplified(String(name)) else {
                unread += name.utf8.contains { "kQF".utf8.contains($0) } ? 1 : 0
                continue
            }
            read += 1
            #expect(demangle(simplified) == demangle(String(name)), "\(name) became \(simplified)")
        }
        #expect(read > 100 && unread == 0, "\(read) read, \(unread) not")
    }

    @Test(arguments: [
        ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
        ("_ZN4core3fmt5write17h0123456789abcdefE.llvm.77", "core::fmt::write"),
        (
            "_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE",
            "<Test + 'static as foo::Bar<Test>>::bar"
        ),
        ("_RNvCs4fqI2P2rA04_4main3run", "main::run"),
        ("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar"),
        ("_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_", "mycrate::main::{closure#0}"),
        ("_RNvMs_NtCs4fqI2P2rA04_5crate4pathNtB4_4Path3new", "<crate::path::Path>::new"),
        ("_RNvXCs4fqI2P2rA04_1aNtB2_1SNtB2_1T1f", "<a::S as a::T>::f"),
        ("_RINvCs4fqI2P2rA04_1a1fReTlmEAhj4_E", "a::f::<&str, (i32, u32), [u8; 4]>"),
        ("_RINvCs4fqI2P2rA04_1a1fFUKCPaEuE", "a::f::<unsafe extern \"C\" fn(*const i8)>"),
        ("_RINvCs4fqI2P2rA04_1a1fDNtB2_1TEL_E", "a::f::<dyn a::T>"),
        ("_RINvCs4fqI2P2rA04_1a1fKb1_Kc61_Kln7b_E", "a::f::<true, 'a', -123>"),
        ("_RNvB_1f", "_RNvB_1f"),
        ("_R", "_R"),
    ])
    func rust(_ linkageName: String, _ name: String) {
        #expect(demangle(linkageName) == name)
    }

    @Test func swift() {
        #expect(demangle("$s4demo3FooV3bar1xS2i_tF") == "demo.Foo.bar(x: Swift.Int) -> Swift.Int")
        #expect(demangle("$s4demo3FooV3barSiyF.resume.0") == "demo.Foo.bar() -> Swift.Int.resume.0")
        #expect(demangle("$snonsense") == "$snonsense")
    }

    /// libstdc++ reads no name of 1024 bytes.
    @Test(arguments: [1000, 2000, 65_536]) func longIdentifiers(_ length: Int) {
        let long = String(repeating: "y", count: length), other = String(repeating: "Z", count: length)
        #expect(demangle("_Z\(length)\(long)ILi3EEiv") == "\(long)<3>")
        #expect(demangle("_ZN\(length)\(other)\(length)\(long)Ei.cold") == "\(other)::\(long).cold")
        #expect(demangle("_ZN\(length)\(other)C2Ev") == "\(other)::\(other)")
        #expect(demangle("_Z\(length + 1)\(long)") == "_Z\(length + 1)\(long)")
    }

    /// Whatever the mangled name says, something comes back.
    @Test func damagedNames() {
        let names = [
            "_RINvCs4fqI2P2rA04_1a1fFUKCPaEuE", "_ZZ4mainENKUliE_clEi", "_ZN4core3fmt5write17h0123456789abcdefE",
            "_RINvCs4fqI2P2rA04_1a1fDNtB2_1TEL_E",
        ]
        for name in names {
            for length in 0...name.count { _ = demangle(String(name.prefix(length))) }
            for position in name.indices {
                for character in "_B0EzTN" {
                    _ = demangle(name.replacingCharacters(at: position, with: character))
                }
            }
        }
        for text in ["(", "<", "a<(", "operator", "f(int) const::", "{", " for ", ")", "f(*", "operator <"] {
            _ = CXXName.withoutParameters(text)
        }
    }
}

extension String {
    fileprivate func replacingCharacters(at index: Index, with character: Character) -> String {
        self[..<index] + String(character) + self[self.index(after: index)...]
    }
}
