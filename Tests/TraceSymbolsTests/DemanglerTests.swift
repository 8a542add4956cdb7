import Glibc
import TestSupport
import Testing

@testable import TraceSymbols

@Suite struct DemanglerTests {
    /// Letters beyond ASCII in Rust's legacy names.
    @Test func rustLetters() {
        #expect(demangle("_ZN3gen13gr$uf6$$udf$e17h3ef91ddd2062c698E") == "gen::größe")
    }

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

    /// What the C++ library reads as well is the same where it is read by Fathom; nil is what neither or only the library reads.
    @Test(arguments: [
        // Constraints refer to the arguments before them, and later parts to what the constraints referred to.
        ("_ZZ1fIiQ1CIT_EEDaS0_S0_ENKUlvE_clEv", "f<int>(int, int)::{lambda()#1}::operator()"),
        ("_ZZN1B1hIiQ1CIT_EEEDaS1_PS1_ENKUlvE_clEv", "B::h<int>(int, int*)::{lambda()#1}::operator()"),
        ("_ZZ1fIidQ1CIT0_EEDaS0_T_ENKUlvE_clEv", "f<int, double>(double, int)::{lambda()#1}::operator()"),
        ("_ZZ1fITk1CIT0_EidEDaS1_ENKUlvE_clEv", "f<int, double>(double)::{lambda()#1}::operator()"),
        ("_ZZ1fITk1CIPT0_EidEDaS2_ENKUlvE_clEv", nil),
        // A parameter that is a template has parameters of its own.
        ("_Z1fITtTyTnTL0__E1AEvv", "f<A>"),
        ("_Z1fITpTyJ1A1BEEvv", "f<A, B>"),
        // Patterns with a pack in them are not read, save in the result, which is not shown.
        ("_ZZ1fIJidEEvDpT_E1x", "f<int, double>(int, double)::x"),
        ("_ZZ1fIJidEEvDpRKT_E1x", "f<int, double>(int const&, double const&)::x"),
        ("_ZZ1fIJidEESt5tupleIJDpT_EES2_E1x", "f<int, double>(int, double)::x"),
        ("_ZZ1fIJidEESt5tupleIJDpT_EES1_E1x", nil),
        ("_ZZ1fIJidEESt5tupleIJDpSt6vectorIT_EEEiE1x", "f<int, double>(int)::x"),
        ("_ZZ1fIJidEESt5tupleIJDpSt6vectorIT_EEEDpS3_E1x", nil),
        ("_ZZ1fIJidEEvDpSt6vectorIT_EE1x", nil), ("_ZZ1fIJidEEvDpNT_4typeEE1x", nil),
        ("_ZZ1fIJidEEvDpPFvT_EE1x", nil), ("_ZZ1fIJidEEvDpPFT_vEE1x", nil), ("_ZZ1fIJidEEvDpMT_iE1x", nil),
        ("_ZZ1fIJidEEvDpM1AT_E1x", nil), ("_ZZ1fIJidEEvDpT_IiEE1x", nil), ("_ZZ1fIJidEEvT_E1x", nil),
        ("_ZZ1fIJidEEvDp1AIXstT_EEE1x", nil), ("_ZZ1fIJLi1ELi2EEEv1AIXT_EEE1x", nil),
        // The arguments of a conversion operator come behind its type.
        ("_ZN1AIiEcvT_IdEEv", nil), ("_ZN1AIiEcvPT_Ev", nil), ("_ZN1AIiEcviEv", "A<int>::operator int"),
        ("_ZNVK1A1fEv", "A::f"),
        ("_ZZNVK1A1fEvENKUlvE_clEv", "A::f() const volatile::{lambda()#1}::operator()"),
        ("_ZZNrVKR1A1fEvENKUlvE_clEv", "A::f() const volatile restrict &::{lambda()#1}::operator()"),
        // Constructors have no result, be they templates.
        ("_ZZN1AC1IiEET_dENKUlvE_clEv", "A::A<int>(int, double)::{lambda()#1}::operator()"),
        // A reference to a template parameter stands for what that is at this place: in lambdas, outside of them, and elsewhere.
        ("_ZZ1fI1AEvT_ENKUlOS0_E_clIiEEDaS1_", "f<A>(A)::{lambda(A&&)#1}::operator()<int>"),
        ("_ZZ1fI1AEvT_ENKUlOS1_E_clIiEEDaS2_", "f<A>(A)::{lambda(auto:1&&)#1}::operator()<int>"),
        (
            "_ZZZ1fvENKUlT_E_clIiEEDaS_ENKUlvE_clEv",
            "f()::{lambda(auto:1)#1}::operator()<int>(int) const::{lambda()#1}::operator()"
        ),
        ("_ZZ1fI1AEvPT_ENKUlS2_E_clIiEEDaS2_", nil),
        ("_ZZN3BoxIiE2asITkSt14convertible_toIT_EdEES3_S3_E1x", "Box<int>::as<double>(double)::x"),
        // What is left behind the name has to be parameters.
        ("_Z3foo!junk", nil), ("_Z3foo junk", nil), ("_Z3foo\u{0}", nil), ("_Z3foo", "foo"), ("_Z3foo3bar", "foo"),
        ("_Z3fooi.isra.0", "foo"),
    ])
    func byItself(_ mangled: String, _ name: String?) {
        #expect(CXXMangledName.readable(mangled) == name)
    }

    /// The C++ library's own names are read as its own demangler reads them.
    @Test func namesOfTheLibrary() throws {
        let library = try run("g++", ["-print-file-name=libstdc++.so.6"]).stdout.split(separator: "\n").first
        let symbols = try run("nm", ["-D", "--defined-only", "-j", String(try #require(library))]).stdout
        var read = 0
        for symbol in symbols.split(separator: "\n") {
            let name = String(symbol.prefix { $0 != "@" })
            guard name.hasPrefix("_Z"), !name.hasPrefix("_ZT"), !name.hasPrefix("_ZGV"), let text = demangleCXX(name)
            else { continue }
            read += 1
            let own = CXXMangledName.readable(name).map(CXXName.withoutParameters)
            #expect(own == CXXName.withoutParameters(text), "\(name)")
        }
        #expect(read > 3000, "\(read) read")
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
        (
            "_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
            "utf8_idents::საჭმელად_გემრიელი_სადილი"
        ),
        // What looks like a hash and is none.
        ("_ZN3foo17hello_world_12345Ev", "foo::hello_world_12345"),
        ("_ZN3foo17h0000000000000000Ev", "foo::h0000000000000000"),
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

    /// What compilers make of templates within one another, and of long lists.
    @Test func longArguments() {
        let depth = 300
        let nested =
            "_ZN" + String(repeating: "3BoxI", count: depth) + "i" + String(repeating: "E", count: depth) + "3getEv"
        #expect(nested.utf8.count > 1024)
        #expect(
            demangle(nested)
                == String(repeating: "Box<", count: depth) + "int" + String(repeating: ">", count: depth) + "::get")
        let count = 2500
        let list = "_Z3runIJ" + (0..<count).map { "Li\($0)E" }.joined() + "EEvv"
        #expect(list.utf8.count > 12_000)
        #expect(demangle(list) == "run<" + (0..<count).map(String.init).joined(separator: ", ") + ">")
        // Later parts refer to earlier ones: S2_ is std::vector<int>, S4_ is Box<std::vector<int>>.
        let many = "_Z3runISt6vectorIiSaIiEE3BoxIS2_EJ" + String(repeating: "S4_", count: 400) + "EEvv.cold"
        let box = "Box<std::vector<int>>"
        #expect(
            demangle(many) == "run<std::vector<int>, " + Array(repeating: box, count: 401).joined(separator: ", ")
                + ">.cold")
    }

    /// A name that stands for more text than anybody would read stays as it is, and soon.
    @Test func namesThatGrow() {
        var name = "_Z3runI4PairIiiE"
        for index in 0..<300 {
            let last = index == 0 ? "S0_" : "S" + String(index, radix: 36).uppercased() + "_"
            name += "S_I\(last)\(last)E"
        }
        name += "EvT_"
        #expect(name.utf8.count > 1024 && demangle(name) == name)
        let deep = "_Z1fI" + String(repeating: "P", count: 20_000) + "iEvv"
        #expect(demangle(deep) == deep)
    }

    /// Each part may be short enough to be read, and all of them together take gigabytes.
    @Test func namesThatGrowAltogether() {
        // S1_ is Pair<int, int>, S2_ is Pair<S1_, S1_>, and so on: SD_ has 90 KB, SE_ 180 KB.
        let pairs = (1...13).map { index in
            let last = "S" + String(index, radix: 36).uppercased() + "_"
            return "S0_I\(last)\(last)E"
        }
        let all = "I4PairIiiE" + pairs.joined(), most = "I4PairIiiE" + pairs.dropLast().joined()
        let before = peakMemory()
        for name in [
            "_Z3run" + all + String(repeating: "PSE_", count: 10_000) + "EvT_",
            "_Z3run" + all + "Xil" + String(repeating: "stSE_", count: 10_000) + "EEEvv",
            "_Z3run" + all + "Fv" + String(repeating: "SE_", count: 10_000) + "EEvv",
            "_ZZ3run" + most + "Ev1AIXil" + String(repeating: "T11_", count: 20_000) + "EEEE1x",
        ] {
            #expect(name.utf8.count > 1024 && demangle(name) == name)
        }
        #expect(peakMemory() - before < 1 << 30)
        // The names are read up to where they repeat something.
        #expect(
            CXXMangledName.readable("_ZZ3run" + most + "Ev1AIXilT_EEEE1x")?.hasSuffix("(A<{Pair<int, int>}>)::x")
                == true)
    }

    /// In bytes, of this process.
    private func peakMemory() -> Int {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        return usage.ru_maxrss << 10
    }

    /// Names of Rust's that stand for more text than anybody would read, that are deep, or that are damaged, stay as they are
    /// or give a bounded text, and soon.
    @Test func namesThatAreNoRust() {
        func number(_ value: Int) -> String { value == 0 ? "_" : "\(base62(value - 1))_" }
        func base62(_ value: Int) -> String {
            let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
            return (value < 62 ? "" : base62(value / 62)) + String(digits[value % 62])
        }
        var doubled = "_RINvC1a1fTlmE", last = 8
        for _ in 0..<60 { (doubled, last) = (doubled + "TB\(number(last))B\(number(last))E", doubled.count - 2) }
        #expect(demangle(doubled + "E") == doubled + "E")
        for step in ["R", "P", "S", "Y", "M", "Nv", "TT"] {
            let deep = "_RINvC1a1f" + String(repeating: step, count: 100_000) + "lE"
            #expect(demangle(deep) == deep)
        }
        let seeds = [
            "_ZN4core3fmt5write17h0123456789abcdefE", "_RNvXCs4fqI2P2rA04_1aNtB2_1SNtB2_1T1f", doubled,
            "_RINvCs4fqI2P2rA04_1a1fFUKCPaEuE", "_RNqC1au30____7hkackfecea1cbdathfdh9hlq6y",
            "_RINvCs4fqI2P2rA04_1a1fKb1_Kc61_Kln7b_E", "_RINvC1a1fTTTTB5_B5_EB5_B5_EB5_EE",
        ].map { Array($0.utf8) }
        var random = SplitMix64(state: 37), named = 0
        for index in 0..<100_000 {
            var name = seeds[index % seeds.count]
            for _ in 0..<random.next() % 6 {
                let place = Int(random.next() % UInt64(name.count))
                switch random.next() % 3 {
                case 0: name[place] = UInt8(truncatingIfNeeded: random.next() % 255 + 1)
                case 1: name.insert(contentsOf: name[place...].prefix(Int(random.next() % 12)), at: place)
                default: name.removeSubrange(place..<min(place + 2, name.count - 1))
                }
            }
            guard let text = demangleRust(String(decoding: name, as: UTF8.self)) else { continue }
            named += 1
            #expect(text.utf8.count <= 10_000)
        }
        #expect(named > 10_000)
    }

    /// Whatever the mangled name says, something comes back.
    @Test func damagedNames() {
        let names = [
            "_RINvCs4fqI2P2rA04_1a1fFUKCPaEuE", "_ZZ4mainENKUliE_clEi", "_ZN4core3fmt5write17h0123456789abcdefE",
            "_RINvCs4fqI2P2rA04_1a1fDNtB2_1TEL_E", "_Z3subIiQsr3stdE8integralIT_EES0_S0_", "_Z1fITpTyE1AEvv",
            "_Z1fITtTyTnTL0__E1AEvv", "_Z1fIUlTpTyT_E_Evv",
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
