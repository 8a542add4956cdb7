import TestSupport
import Testing

/// A way to build a program.
struct Build: CustomTestStringConvertible, Sendable {
    var compiler: Toolchain.Compiler
    var flags: [String]

    init(_ compiler: Toolchain.Compiler, _ flags: String) {
        self.compiler = compiler
        self.flags = flags.split(separator: " ").map(String.init)
    }

    var testDescription: String { ([compiler.rawValue] + flags).joined(separator: " ") }
}

enum Programs {
    static let c = """
        #include <stdio.h>
        #include <stdlib.h>

        __attribute__((noinline)) static int local_one(int x) { return x * 3 + 1; }

        __attribute__((noinline)) int global_two(int x) {
            if (x > 100000) abort();
            return local_one(x) + 2;
        }

        int main(int argc, char **argv) {
            int sum = global_two(argc);
            sum += local_one(argc + 1);
            return argv[0] == NULL || sum == 0;
        }
        """

    static let cxx = """
        #include <functional>
        #include <string>
        namespace ns {
        template <class T> struct Class {
            T value;
            __attribute__((noinline)) int method(int x) const;
        };
        template <class T>
        int Class<T>::method(int x) const { return x + (int)value; }
        namespace {
        __attribute__((noinline)) int hidden(int a) { return a * 2; }
        }
        }
        struct Base { __attribute__((noinline)) virtual int f() { return 1; } virtual ~Base() {} };
        __attribute__((noinline)) std::string text(const std::string &s) { return s + "x"; }
        int main(int argc, char **argv) {
            struct Local { __attribute__((noinline)) int go(int a) { return a + 1; } };
            auto lambda = [argc](int b) __attribute__((noinline)) { return argc + b; };
            ns::Class<int> whole{argc};
            ns::Class<double> real{2.0};
            Base base;
            int sum = whole.method(1) + real.method(2) + ns::hidden(argc) + Local().go(argc) + lambda(2) + base.f();
            return text(argv[0]).empty() || sum == 0;
        }
        """

    /// The number of the first line of `source` that holds `text`, from 1.
    static func line(of text: String, in source: String) -> Int {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.firstIndex { $0.contains(text) }.map { $0 + 1 } ?? 0
    }
}

/// A function in the output of `nm -S`.
struct ListedFunction {
    var start: UInt64
    var size: UInt64
    var name: String

    static func all(of path: String) throws -> [ListedFunction] {
        try run("nm", ["-S", path]).stdout.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            // nm takes the place that SystemTap's probes count from for a weak function.
            guard fields.count == 4, "tTwWi".contains(fields[2]), fields[3] != "_.stapsdt.base",
                let start = UInt64(fields[0], radix: 16),
                let size = UInt64(fields[1], radix: 16)
            else { return nil }
            return ListedFunction(start: start, size: size, name: String(fields[3]))
        }
    }
}
