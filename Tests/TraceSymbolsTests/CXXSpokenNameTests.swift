import Testing

@testable import TraceSymbols

/// Names of g++ and clang, with libstdc++ and libc++.
@Suite struct CXXSpokenNameTests {
    @Test(arguments: [
        ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", "std::string::append"),
        ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEC1EPKcRKS3_", "std::string::string"),
        ("_ZNSt7__cxx1112basic_stringIwSt11char_traitsIwESaIwEED1Ev", "std::wstring::~wstring"),
        ("_ZNSt3__112basic_stringIcNS_11char_traitsIcEENS_9allocatorIcEEE6appendEPKc", "std::string::append"),
        ("_ZNSt6vectorISt4pairIccESaIS1_EE9push_backEOS1_", "std::vector<std::pair<char, char>>::push_back"),
        ("_ZNSt3setIiSt7greaterIiESaIiEED1Ev", "std::set<int, std::greater<int>>::~set"),
        (
            "_ZN2ns3BoxISt3mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt10unique_ptrI4NodeSt14default_deleteIS9_EESt4lessIS7_ESaISt4pairIKS7_SC_EEEE4takeIS7_EEvT_",
            "ns::Box<std::map<std::string, std::unique_ptr<Node>>>::take<std::string>"
        ),
        (
            "_ZNSt13unordered_mapINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEiSt4hashIS5_ESt8equal_toIS5_ESaISt4pairIKS5_iEEEixEOS5_",
            "std::unordered_map<std::string, int>::operator[]"
        ),
        (
            "_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_4NodeESt10_Select1stIS9_ESt4lessIS5_ESaIS9_EE8_M_eraseEPSt13_Rb_tree_nodeIS9_E",
            "std::_Rb_tree<std::string, std::pair<std::string const, Node>>::_M_erase"
        ),
        ("_ZNK4ConvcvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv", "Conv::operator std::string"),
        (
            "_Z1gISt8functionIFvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEEEvT_",
            "g<std::function<void (std::string const&)>>"
        ),
        ("_Z1gINSt10filesystem7__cxx114pathEEvT_", "g<std::filesystem::path>"),
        (
            "_Z1gINSt6chrono10time_pointINS0_3_V212system_clockENS0_8durationIlSt5ratioILl1ELl1000000000EEEEEEEvT_",
            "g<std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<long, std::ratio<1l, 1000000000l>>>>"
        ),
        ("_Z1gISt5stackIP4NodeSt5dequeIS2_SaIS2_EEEEvT_", "g<std::stack<Node*>>"),
        ("_Z1gISt17basic_string_viewIcSt11char_traitsIcEEEvT_", "g<std::string_view>"),
        (
            "_ZN9__gnu_cxxneIPKcSt6vectorIcSaIcEEEEbRKNS_17__normal_iteratorIT_T0_EESB_",
            "__gnu_cxx::operator!=<char const*, std::vector<char>>"
        ),
        (
            "_ZNK9__gnu_cxx17__normal_iteratorIPKcSt6vectorIcSaIcEEE4baseEv",
            "std::vector<char>::const_iterator::base"
        ),
        ("_ZStplIcSt11char_traitsIcESaIcEENSt7__cxx1112basic_stringIT_T0_T1_EEOS8_S5_", "std::operator+<char>"),
        ("_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc", "std::operator<<"),
        (
            "_ZZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE12_M_constructIPcEEvT_S7_St20forward_iterator_tagEN6_GuardD1Ev",
            "std::string::_M_construct<char*>::_Guard::~_Guard"
        ),
        // What a function object holds is not a default.
        (
            "_ZNSt17_Function_handlerIFbcENSt8__detail11_AnyMatcherINSt7__cxx1112regex_traitsIcEELb0ELb0ELb0EEEE9_M_invokeERKSt9_Any_dataOc",
            "std::_Function_handler<bool (char), std::__detail::_AnyMatcher<std::regex_traits<char>, false, false, false>>::_M_invoke"
        ),
        // Nor is what a program's own template is given.
        ("_Z1hIiSaIiEEvRSt6vectorIT_T0_E", "h<int, std::allocator<int>>"),
        ("_ZN5shellILi3EE7__cxx113runEv", "shell<3>::__cxx11::run"),
        ("_ZZ4scanRKSt6vectorIiSaIiEEENKUlS3_E_clES3_", "scan::{lambda(std::vector<int> const&)#1}::operator()"),
    ])
    func spoken(_ linkageName: String, _ name: String) { #expect(demangle(linkageName) == name) }

    /// The full name has everything but the parameters.
    @Test func full() {
        let name = "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc"
        #expect(
            demangle(name, spoken: false)
                == "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::append")
    }

    /// Whatever the text is, something comes back.
    @Test(arguments: [
        "std::vector<", "std::vector<>", "std::vector<int", "std::basic_string<char", "(", "a(", "a(b", "a<b(>",
        "f()::",
        "operator", "operator<", "std::operator<< <", "[abi:", "x[abi:y", "{lambda", "std::vector<,>::x",
        "basic_string",
        "::basic_string", "std::__cxx11::", "decltype(", "std::less<>", "a<b>>c", "", ">",
        "std::a<b, std::allocator<c>",
    ])
    func damaged(_ text: String) {
        for length in 0...text.utf8.count {
            _ = CXXSpokenName.of(String(decoding: text.utf8.prefix(length), as: UTF8.self))
        }
    }
}
