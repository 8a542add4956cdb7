import Glibc
import TestSupport
import Testing

/// What readers keep beside a recording makes later answers quicker, and never different.
@Suite struct KeptAnswerTests {
    private static let questions = [
        ["tree", "-t", "100us"], ["tree", "--limit", "7"], ["tree", "--from", "50ms", "--to", "60ms"],
        ["tree", "-F", "nap"], ["report"], ["graph"],
    ]
    private static let kept = ["outlines", "offcpu", "aggregate"]

    private func answers(_ session: String) throws -> [String] {
        try Self.questions.map { words in
            let output = try Fathom.run([words[0], session, "--format", "json"] + words.dropFirst())
            try #require(output.status == 0 && output.stderr.isEmpty, "\(output.stderr)")
            return output.stdout
        }
    }

    @Test func isTheSame() throws {
        let directory = try TemporaryDirectory("kept")
        let source = try directory.write(
            """
            #include <pthread.h>
            #include <unistd.h>
            static volatile int sum;
            void leaf(int n) { sum += n; }
            void nap(int n) { usleep(n); }
            void round(int n) { for (int i = 0; i < 700; i++) leaf(i); if (n % 3 == 0) nap(100); }
            void *work(void *none) { for (int i = 0; i < 1000; i++) round(i); return none; }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, 0, work, 0);
                work(0);
                pthread_join(thread, 0);
            }

            """, to: "program.c")
        let program = directory.file("program"), session = directory.file("program.fathom")
        let built = try Fathom.run(["build", "--", "gcc", "-O1", "-g", "-pthread", source, "-o", program])
        try #require(built.status == 0, "\(built.stderr)")
        try #require(try Fathom.record([program], into: session, options: ["--quiet"]).status == 0)
        let files = Self.kept.map { "\(session)/\($0)" }
        // A log that has just been written could still change without telling, so nothing is kept of it at first.
        let first = try answers(session)
        var isKept = false
        for _ in 0..<50 where !isKept {
            usleep(200_000)
            #expect(try answers(session) == first)
            isKept = files.allSatisfy { access($0, F_OK) == 0 }
        }
        let listing = try run("ls", [session]).stdout
        try #require(isKept, "\(listing)")
        #expect(try answers(session) == first)
        for file in files {
            var bytes = try readFile(file)
            bytes[bytes.count * 3 / 4] ^= 0x55
            try writeFile(bytes, to: file)
        }
        #expect(try answers(session) == first)
        #expect(first[0].contains("\"blocked_ns\"") && first[0].contains("\"nap\""))
    }
}
