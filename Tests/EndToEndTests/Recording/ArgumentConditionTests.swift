import TestSupport
import Testing

/// The flight recorder's ring is saved for calls with given arguments, and a tree shows such calls.
@Suite struct ArgumentConditionTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("conditions") }

    private static let source = """
        #include <stdbool.h>
        #include <string.h>
        #include <time.h>
        enum kind { READ, WRITE = 4 };
        struct request { const char *path; int size; };
        __attribute__((noinline)) int leaf(int n) { __asm__ volatile(""); return n + 1; }
        __attribute__((noinline)) int handle(const char *path, int id, enum kind kind, bool hot, struct request *request) {
            volatile int sum = leaf(id);
            if (id == 777) nanosleep(&(struct timespec){.tv_nsec = 60000000}, 0);
            return sum + kind + hot + (path ? (int)strlen(path) : 0) + request->size;
        }
        int main(void) {
            struct request request = {"inner", 1};
            for (int i = 0; i < 1500; i++) {
                request.size = i;
                handle(i == 500 ? "/slow" : i == 501 ? 0 : "/fast", i == 900 ? 777 : -i, i == 1200 ? WRITE : READ, i % 2, &request);
            }
        }

        """

    private func record(_ build: Build, _ options: [String]) throws -> ProcessOutput {
        let program = try Toolchain.compile(
            sources: ["program.c": Self.source], compiler: build.compiler == .gcc ? .gcc : .clang,
            flags: ["-g", "-O\(build.level)", "-finstrument-functions"], libraries: [],
            output: directory.file("program"))
        return try Fathom.record([program], into: directory.file("s.fathom"), options: options)
    }

    @Test(arguments: [Build.gccO2, .clangO0])
    func ringIsSaved(_ build: Build) throws {
        for (condition, shown) in [
            (#"handle(path=="/slow")"#, #"handle(path="/slow")"#), ("handle(path == null)", "handle(path=null)"),
            ("handle(id==777)>40ms", "handle(id=777)"), ("handle(kind==WRITE && id<0)", "handle(kind=WRITE, id=-1200)"),
            ("handle(request->size>=1499)", "handle(request->size=1499)"),
            (#"handle(hot==true, id<-1498, path!="/slow")"#, #"handle(hot=true, id=-1499, path="/fast")"#),
        ] {
            _ = try run("rm", ["-rf", directory.file("s-1.fathom")])
            let recorded = try record(build, ["--mode", "flight", "--when", condition])
            #expect(recorded.stderr.contains("(--when \(condition))"), "\(recorded.stderr)")
            let tree = try Fathom.run(
                ["tree", "--no-fold", directory.file("s-1.fathom"), "--when", condition.replacing(">40ms", with: "")])
            let calls = tree.stdout.split(separator: "\n").filter { $0.contains("handle") || $0.contains("leaf") }
            #expect(calls.count == 2 && calls[0].hasSuffix("  \(shown)"), "\(condition): \(tree.stdout)")
        }
    }

    @Test func ringIsNotSaved() throws {
        let none = [#"handle(path=="/slo")"#, "handle(id==777)>30s", "handle(id==777, kind==WRITE)"]
        let recorded = try record(.gccO2, ["--mode", "flight"] + none.flatMap { ["--when", $0] })
        #expect(recorded.stderr.contains("nothing asked for a save"), "\(recorded.stderr)")
        #expect(!recorded.stderr.contains("warning"), "\(recorded.stderr)")
    }

    @Test func conditionsThatCannotHold() throws {
        for (condition, words) in [
            ("handle(path==7)", "cannot be compared so"), ("handle(pat==\"x\")", "has an argument pat"),
            ("handl(id==7)", "matches no function"),
        ] {
            let recorded = try record(.gccO2, ["--mode", "flight", "--when", condition])
            #expect(recorded.stderr.contains(words), "\(recorded.stderr)")
        }
        for options in [
            ["record", "--when", "handle(id==7)", "--", "true"],
            ["record", "--mode", "flight", "--when", "handle(id==7)>p99", "--", "true"],
            ["record", "--mode", "flight", "--when", "handle(id==)", "--", "true"],
        ] {
            #expect(try Fathom.run(options).status == 64, "\(options)")
        }
        for condition in ["handle(id==7)>1ms", "handle>1ms"] {
            let refused = try Fathom.run(["tree", "--when", condition])
            #expect(refused.status == 64 && refused.stderr.contains("it takes arguments"), "\(refused.stderr)")
        }
    }
}
