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
        // Lambdas are functions; only the last one of a name shows its parameters.
        (
            "_ZZ17getLifetimeTokensIZN9ValueFlow16hasLifetimeTokenEPK5TokenS3_EUlS3_E_ESt6vectorINS0_13LifetimeTokenESaIS6_EES3_bNSt7__cxx114listISt4pairIS3_NS9_12basic_stringIcSt11char_traitsIcESaIcEEEESaISH_EEET_iENKUlRK9ValueTypeE_clESN_",
            "getLifetimeTokens<ValueFlow::hasLifetimeToken::{lambda#1}>::{lambda(ValueType const&)#1}"
        ),
        (
            "_ZZ11findAstNodeIZZL20valueFlowAfterAssignP9TokenListP14SymbolDatabaseP11ErrorLoggerPK8SettingsENKUlPK5TokenE2_clESB_EUlSB_E_ESB_SB_RKT_ENKUlSB_E_clESB_",
            "findAstNode<valueFlowAfterAssign::{lambda#4}::{lambda#1}>::{lambda(Token const*)#1}"
        ),
        (
            "_ZZ13productParamsIiZL24valueFlowLibraryFunctionP5TokenRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPK8SettingsEUlRKSt13unordered_mapIiN9ValueFlow5ValueESt4hashIiESt8equal_toIiESaISt4pairIKiSF_EEEE_EbRKSD_IT_NS2_4listISF_SaISF_EEESG_ISS_ESI_ISS_ESaISK_IKSS_SV_EEET0_ENKUlRKSK_IiSF_EE0_clES17_",
            "productParams<int, valueFlowLibraryFunction::{lambda#1}>::{lambda(pair<int, Value> const&)#2}"
        ),
        (
            "_ZZL17valueFlowLifetimeP9TokenListP14SymbolDatabaseP11ErrorLoggerPK8SettingsENKUlPK5Token15LifetimeCaptureRKSt8functionIFbSA_EEE0_clESA_SB_SG_",
            "valueFlowLifetime::{lambda(Token const*, LifetimeCapture, function<bool (Token const*)> const&)#2}"
        ),
        (
            "_ZZNK16ConditionHandler14afterConditionEP9TokenListP14SymbolDatabaseP11ErrorLoggerPK8SettingsENKUlRKNS_9ConditionEP5TokenPK5ScopeE_clESB_SD_SG_",
            "ConditionHandler::afterCondition::{lambda(Condition const&, Token*, Scope const*)#1}"
        ),
        (
            "_ZSt7forwardIRKMN9ValueFlow5ValueEKFbvEEOT_RNSt16remove_referenceIS6_E4typeE",
            "std::forward<bool (ValueFlow::Value::* const&)() const>"
        ),
        ("_ZZ4mainENUliE_4_FUNEi", "main::{lambda(int)#1}::_FUN"),
        ("_ZZ4mainENKUlT_E_clIiEEDaS_", "main::{lambda(auto:1)#1}<int>"),
        ("_GLOBAL__sub_I__ZN2ns3BoxD2Ev", "global constructors keyed to ns::Box::~Box"),
        (
            "_Z13visitAstNodesIK5TokenZN18ExpressionAnalyzer15setupExprVarIdsEPS1_iEUlS3_E_vEvPT_RKT0_",
            "visitAstNodes<Token const, ExpressionAnalyzer::setupExprVarIds::{lambda#1}>"
        ),
        ("_Z4callIivEvv", "call<int, void>"),
        (
            "_Z17MakeIteratorRangeISt16reverse_iteratorIN9__gnu_cxx17__normal_iteratorIPKPK5ScopeSt6vectorIS5_SaIS5_EEEEEE13IteratorRangeIT_ESE_SE_",
            "MakeIteratorRange<std::vector<Scope const*>::const_reverse_iterator>"
        ),
        // What a function object holds is not a default.
        (
            "_ZNSt17_Function_handlerIFbcENSt8__detail11_AnyMatcherINSt7__cxx1112regex_traitsIcEELb0ELb0ELb0EEEE9_M_invokeERKSt9_Any_dataOc",
            "std::_Function_handler<bool (char), std::__detail::_AnyMatcher<std::regex_traits<char>, false, false, false>>::_M_invoke"
        ),
        // Nor is what a program's own template is given.
        ("_Z1hIiSaIiEEvRSt6vectorIT_T0_E", "h<int, std::allocator<int>>"),
        ("_ZN5shellILi3EE7__cxx113runEv", "shell<3>::__cxx11::run"),
        ("_ZZ4scanRKSt6vectorIiSaIiEEENKUlS3_E_clES3_", "scan::{lambda(vector<int> const&)#1}"),
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
        "operator", "operator<", "std::operator<< <", "[abi:", "x[abi:y", "{lambda",
        "f::{lambda(a::b<c>)#1}::operator()(int)::{lambda}", "(a::*", "(a<b>::* const&c(d))",
        "std::vector<,>::x",
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
