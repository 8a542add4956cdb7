internal import Glibc
import TestSupport
import Testing

/// Programs call functions, threads and marks what they like, and are called with any arguments: none of it steers the
/// terminal of who reads the recording, or passes for a line of the report.
@Suite struct VisibleTextTests {
    private static let source = """
        #include "fathom.h"
        #include <sys/prctl.h>
        __attribute__((noinline)) void evilXXXXname(void) { fathom_mark("mark\\033[2J\\nforged"); }
        int main(void) {
            prctl(PR_SET_NAME, "thread\\033[2J\\n");
            FATHOM_SCOPE("scope\\033]0;x\\007");
            evilXXXXname();
            return 0;
        }
        """

    @Test func nothingSteersTheTerminal() throws {
        let directory = try TemporaryDirectory("visible")
        let built = try Toolchain.compile(
            sources: ["evil.c": Self.source], compiler: .gcc,
            flags: ["-g", "-finstrument-functions", "-I\(Binaries.repository)/Sources/CFathom/include"],
            output: directory.file("evil"))
        // No compiler makes such a name, but anybody may.
        var bytes = try readFile(built)
        let (plain, evil) = (Array("evilXXXXname".utf8), Array("evil\u{1b}[2\nname".utf8))
        for start in bytes.indices.dropLast(plain.count) where bytes[start] == plain[0] {
            if bytes[start...].starts(with: plain) { bytes.replaceSubrange(start..<start + plain.count, with: evil) }
        }
        let program = directory.file("e\u{1b}[2Jvil\n")
        try writeFile(bytes, to: program)
        chmod(program, 0o755)
        let session = directory.file("session\u{1b}\n.fathom")
        let recorded = try Fathom.record([program, "a\u{1b}[2J\nbee"], into: session, options: [])
        #expect(recorded.status == 0)
        let commands = [
            ["tree", "--lines"], ["report"], ["report", "--by", "path"], ["report", "--by", "thread"],
            ["report", "--by", "module"], ["graph"], ["info", "--modules"], ["dump"], ["tune"], ["none", "--lines"],
            ["export", "--format", "folded", "-o", "-"], ["export", "--format", "callgrind", "-o", "-"],
        ]
        var shown = recorded.stderr
        for command in commands {
            let output = try Fathom.run(
                [command[0] == "none" ? "tree" : command[0], command[0] == "none" ? session + "x" : session]
                    + command[1...])
            #expect(output.status == (command[0] == "none" ? 2 : 0), "\(command): \(output.stderr)")
            shown += output.stdout + output.stderr
        }
        #expect(try Fathom.run(["diff", session, session]).stdout.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0a })
        shown += try Fathom.run(["info", program]).stdout
        #expect(shown.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x0a })
        #expect(
            !shown.split(separator: "\n").contains {
                $0.hasPrefix("forged") || $0.hasPrefix("name") || $0.hasPrefix("bee")
            })
        for text in [
            #"evil\x1b[2\nname"#, #"mark\x1b[2J\nforged"#, #"thread\x1b[2J\n"#, #"scope\x1b]0;x\x07"#,
            #"a\x1b[2J\nbee"#,
        ] {
            #expect(shown.contains(text), "\(text)")
        }
    }
}
