import TestSupport
import Testing
import TraceFile
import TraceRequest
import TraceSymbols

/// Which functions of a program options mean, and what is said of them.
@Suite struct FunctionMatchTests {
    private static let source = """
        struct request { const char *path; };
        __attribute__((noinline)) int work(int id, const char *text) { return id + text[0]; }
        __attribute__((noinline)) int worker(int id) { return work(id, "text") + 1; }
        int main(int argc, char **argv) { return worker(argc) == 0; }
        """
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("matches") }

    private func module(_ flags: String...) throws -> ReportedFunctions {
        let path = try Toolchain.compile(
            sources: ["program.c": Self.source], compiler: .gcc, flags: ["-finstrument-functions"] + flags,
            output: directory.file("program"))
        return try ReportedFunctions(path: path)
    }

    @Test func linesAndRules() throws {
        var options = FunctionOptions()
        (options.only, options.without, options.triggers) = (["work*"], ["mian"], ["worker@mark"])
        let match = try FunctionMatch(options), module = try module()
        #expect(match.all.selection == [.only, .without] && match.all.trigger.actions == .mark)
        #expect(
            match.lines([module]) == [
                "--filter 'work*': 2 functions",
                "warning: --notrace mian matches no function of the program or the libraries that it needs; did you mean main?",
                "--trigger worker: 1 function",
            ])
        let found = match.functions(of: module).sorted { $0.name < $1.name }
        #expect(found.map(\.name) == ["work", "worker"] && found.allSatisfy { $0.rule.selection == .only })
        #expect(found.map(\.rule.trigger.actions) == [[], .mark])
    }

    @Test(arguments: ["/(/", "f@", "f:a b"])
    func badPatterns(_ text: String) {
        var options = FunctionOptions()
        if text.contains("@") {
            options.triggers = [text]
        } else if text.contains(":") {
            options.arguments = [text]
        } else {
            options.only = [text]
        }
        #expect(throws: (any Error).self) { try FunctionMatch(options) }
    }

    #if arch(x86_64)
        /// The warnings, without `warning: `, that arguments and results of `work` lead to.
        private func warnings(_ options: FunctionOptions, _ flags: String...) throws -> [String] {
            let match = try FunctionMatch(options), module = try module("-g\(flags.first ?? "")")
            var functions = match.functions(of: module)
            return match.addArguments(&functions, of: module).map { String($0.dropFirst("warning: ".count)) }
        }

        @Test func arguments() throws {
            var options = FunctionOptions()
            options.arguments = ["work:id"]
            let match = try FunctionMatch(options), module = try module("-g")
            var functions = match.functions(of: module)
            #expect(match.addArguments(&functions, of: module) == [])
            #expect(functions.map(\.name) == ["work"])
            #expect(functions.first?.arguments.first?.layout.values.map(\.name) == ["id"])
        }

        @Test func missingArguments() throws {
            var options = FunctionOptions()
            options.arguments = ["work:idd"]
            #expect(
                try warnings(options) == [
                    "--args: no function that is asked for has an argument idd; did you mean id?"
                ])
            options.arguments = ["work"]
            #expect(
                try warnings(options, "0").first?.hasSuffix(
                    "has no debug information (-g), which says where arguments are") == true)
            (options.arguments, options.results) = ([], ["work*"])
            #expect(try warnings(options) == [])
        }

        /// A text is not compared with a number.
        @Test(arguments: [("work(id==7)", false), ("work(text==7)", true)])
        func conditions(_ text: String, _ warns: Bool) throws {
            let condition = try FlightCondition(text)
            var options = FunctionOptions()
            options.conditions = [
                FunctionCondition(
                    pattern: condition.pattern, comparisons: condition.comparisons, duration: 0, text: text)
            ]
            let warning =
                "--when '\(text)': the arguments of work cannot be compared so: they are optimized out, or of another type"
            #expect(try warnings(options) == (warns ? [warning] : []))
        }
    #endif
}
