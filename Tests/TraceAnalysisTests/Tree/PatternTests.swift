import Testing
import TraceAnalysis

@Suite struct PatternTests {
    @Test(arguments: [
        ("main", "main"), ("ma*", "main"), ("*in", "main"), ("m??n", "main"), ("m[a-c]in", "main"), ("m[!b]in", "main"),
        ("ns::f", "ns::f(int, char (*)(int))"), ("ns::f", "ns::f(int) const"), ("ns::*", "ns::f(int)"),
        ("(anonymous namespace)::f", "(anonymous namespace)::f(int)"), ("operator()", "operator()(int)"),
        ("/^m.*n$/", "main"), ("/ai/", "main"), ("*", ""), ("a*b*c", "aXbYbZc"), ("[", "["),
        // The last parts of qualified names.
        ("fib", "app::fib"), ("fib", "fib"), ("fib", "app::fib(int)"), ("app::fib", "lib::app::fib"),
        ("push_back", "std::vector<int>::push_back"),
        ("vector::push_back", "std::vector<std::pair<int, char>>::push_back"),
        ("max", "std::max<int>"), ("get", "Box<void (*)(std::vector<int>)>::get() const"),
        ("Box<int>::get", "ns::Box<int>::get"),
        ("f", "(anonymous namespace)::f"), ("f", "a::(anonymous namespace)::f(int)"),
        ("operator==", "ns::A::operator=="),
        ("operator<", "ns::operator<"), ("operator<<", "std::operator<< <char>"),
        ("operator->", "std::unique_ptr<int>::operator->"),
        ("operator()", "ns::A::operator()"), ("operator bool", "ns::A::operator bool"), ("~A", "ns::A::~A"),
        ("operator()", "main::{lambda(int)#1}::operator()"), ("operator[]", "ns::A::operator[]"),
        ("handle", "Server.handle(_:)"), ("handle(_:)", "Server.handle(_:)"),
        ("parse", "static Parser.parse(_:options:)"),
        ("Parser.parse", "static Parser.parse(_:options:)"), ("getter", "Circle.r.getter"),
        ("init(r:)", "Circle.init(r:)"),
        ("<", "static Point.<(_:_:)"),
        // Exactly a name, and names that look like other patterns.
        ("=fib", "fib"), ("=fib", "fib(int)"), ("=app::fib", "app::fib"), ("=ns::operator*", "ns::operator*(int)"),
        ("==(_:_:)", "==(_:_:)"), ("=", "="), ("a@b", "a@b"), ("*@Sendable*", "closure #1 @Sendable () -> ()"),
        ("@objc f", "@objc f"),
    ])
    func matches(_ pattern: String, _ name: String) throws { #expect(try Pattern(pattern).matches(name)) }

    @Test(arguments: [
        ("main", "main2"), ("ma", "main"), ("m?n", "main"), ("m[!a]in", "main"), ("/^a/", "main"), ("f", "f2(int)"),
        ("fib", "app::fibs"), ("fib", "app::afib"), ("fib", "app::fib::run"), ("app::fib", "myapp::fib"),
        ("fi*", "app::fib"),
        ("fib", "run<app::fib>"), ("f", "closure #1 in f()"), ("f", "closure #1 in A.f()"),
        ("f", "default argument 1 of A.f(x:)"),
        ("=fib", "app::fib"), ("=fi*", "fib"), ("=std::max", "std::max<int>"), ("fib", "x fib"), ("", "main"),
        ("main@prog", "main"), ("@", "main"), ("operator", "ns::operator=="), ("<int>", "std::max<int>"),
    ])
    func differs(_ pattern: String, _ name: String) throws { #expect(try !Pattern(pattern).matches(name)) }

    @Test(arguments: [
        ("*@libx.so", "f", "/usr/lib/libx.so", true), ("*@libx.so", "f", "/usr/lib/liby.so", false),
        ("*@libx", "f", "/usr/lib/libx.so.1.2", true), ("*@lib", "f", "/usr/lib/libx.so", false),
        ("*@lib*", "f", "/usr/lib/libx.so", true), ("*@/usr/lib/libx.so", "f", "/usr/lib/libx.so", true),
        ("*@/opt/*", "f", "/opt/app/prog", true), ("@prog", "f", "/opt/app/prog", true),
        ("f@prog", "ns::f", "/opt/prog", true),
        ("=f@prog", "ns::f", "/opt/prog", false), ("=f@prog", "f", "/opt/prog", true),
        ("g@prog", "f", "/opt/prog", false),
        ("/^f/@prog", "fun", "/opt/prog", true), ("f@/o[op]t/", "f", "/opt/prog", true),
        ("f@prog", "f@prog", "/other", true),
        ("/x@y/", "ax@yb", "/other", true), ("f@a@prog", "f@a", "/opt/prog", true),
    ])
    func matchesModules(_ pattern: String, _ name: String, _ module: String, _ isMatch: Bool) throws {
        #expect(try Pattern(pattern).matches(name, module: module) == isMatch)
        #expect(try !Pattern(pattern).matches("other", module: nil) || pattern == "*")
    }

    @Test func unqualifiedPatternsAreGlobs() throws {
        #expect(try !Pattern(unqualified: "main").matches("a.main") && Pattern(unqualified: "=a").matches("=a"))
        #expect(try Pattern(unqualified: "a@b").matches("a@b") && Pattern(unqualified: "*n").matches("main"))
    }

    @Test func saysWhichNamesThereAre() throws {
        let names = ["app::fib(int)", "lib::fib<int>", "lib::fib<char>", "main", "fib"]
        #expect(
            try Pattern("fib").severalNames(among: names)
                == "'fib' matches app::fib, fib, lib::fib; '=NAME' is one name")
        #expect(try Pattern("fib").severalNames(among: names.dropFirst(3)) == nil)
        #expect(try Pattern("lib::fib").severalNames(among: names) == nil)
        for pattern in ["main", "*fib", "=fib", "/fib/"] {
            #expect(try Pattern(pattern).severalNames(among: names) == nil)
        }
    }

    @Test(arguments: [
        ("parse.c", "/home/me/src/parse.c", true), ("parse.c", "parse.c", true), ("parse.c", "/src/myparse.c", false),
        ("src", "/home/me/src/net/http.c", true), ("src/net", "/home/me/src/net/http.c", true),
        ("src/net/", "src/net/a.c", true),
        ("src/n", "/home/me/src/net/http.c", false), ("*.h", "/usr/include/c++/12/bits/vector.h", true),
        ("*.h", "a.hh", false),
        ("/home/me", "/home/me/a.c", true), ("/me", "/home/me/a.c", false), ("me/*.c", "/home/me/deep/a.c", true),
        ("./src/a.c", "src/./a.c", true), ("src/a.c", "build/../src/a.c", true), ("/home/me/", "/home/me/a.c", true),
        ("/\\.(h|hpp)$/", "a.hpp", true), ("/\\.(h|hpp)$/", "a.c", false), ("a.c@hide", "a.c", true),
        ("c++", "/x/c++/a.h", true),
    ])
    func matchesPlaces(_ pattern: String, _ file: String, _ isMatch: Bool) throws {
        #expect(try PlacePattern(pattern).matches(file) == isMatch)
        #expect(try !PlacePattern(pattern).matches(nil))
    }

    @Test func placesHide() throws {
        let some = [try PlacePattern("src"), try PlacePattern("gen.c@hide")]
        #expect(!some.hides("src/a.c") && some.hides("src/gen.c") && some.hides("lib/a.c") && some.hides(nil))
        let others = [try PlacePattern("gen.c@hide")]
        #expect(!others.hides("src/a.c") && others.hides("src/gen.c") && !others.hides(nil))
        for text in ["", "@hide", "./", "/", "."] { #expect(throws: (any Error).self) { try PlacePattern(text) } }
        #expect(throws: (any Error).self) { try PlacePattern("/(/") }
    }

    @Test func badExpressionsAreRefused() {
        for pattern in ["/(/", "f@/(/", "/(/@prog"] {
            #expect(throws: Pattern.InvalidPattern.self) { try Pattern(pattern) }
        }
    }
}

@Suite struct TimeSpanTests {
    @Test(arguments: [
        ("0", 0), ("0.0", 0), ("10ns", 10), ("10us", 10_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000),
        ("1m", 60_000_000_000), ("1min", 60_000_000_000),
    ])
    func reads(_ text: String, _ nanoseconds: UInt64) throws { #expect(try TimeSpan(text).nanoseconds == nanoseconds) }

    @Test(arguments: [
        ("10", "10 of what? write 10us, 10ms or 10s"),
        ("1.5", "1.5 of what? write 1.5us, 1.5ms or 1.5s"),
        ("-1s", "a time cannot be negative"), ("-1", "a time cannot be negative"),
        ("10y", "'y' is no unit of time: ns, us, ms, s, min, h and d are"),
        ("10 ms", "' ms' is no unit of time: ns, us, ms, s, min, h and d are"),
        ("1e3", "'e3' is no unit of time: ns, us, ms, s, min, h and d are"),
        ("", "a time is a number and a unit, as 10us or 1.5ms"),
        ("ms", "a time is a number and a unit, as 10us or 1.5ms"),
        ("1.2.3s", "a time is a number and a unit, as 10us or 1.5ms"),
        ("99999999999s", "a time cannot be longer than 285 years"),
    ])
    func refuses(_ text: String, _ reason: String) {
        let error = #expect(throws: TimeSpan.InvalidText.self) { try TimeSpan(text) }
        #expect(error?.description == reason)
    }
}
