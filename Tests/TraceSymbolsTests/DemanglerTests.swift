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
