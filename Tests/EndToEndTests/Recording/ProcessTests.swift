internal import Glibc
import TestSupport
import Testing

/// Processes that go their own ways.
@Suite struct ProcessTests {
    /// A daemon outlives `fathom record`'s child; its calls are recorded nevertheless.
    @Test(arguments: Build.two)
    func daemon(_ build: Build) throws {
        let binary = try Binaries.instrumented("daemon.c", build)
        let directory = try TemporaryDirectory("daemon")
        let session = directory.file("session.fathom")
        let result = directory.file("result")
        let output = try Fathom.record([binary, result], into: session)
        #expect(output.status == 0)
        #expect(waitUntil { (try? readFile(result)) == Array("done\n".utf8) })
        #expect(waitUntil { (try? Dump(session).counts()["report"]) == 1 })
        // fib(10) has 177 calls, fib(15) 1973.
        #expect(try Dump(session).counts() == ["main": 1, "work": 177 + 1973, "report": 1])
        // Its parent has ended, but is known.
        let info = try Fathom.run(["info", session]).stdout
        let processes = info.split(separator: "\n").filter { $0.hasPrefix("process ") }
        try #require(processes.count == 2, "\(info)")
        let parent = try processes.at(0).split(separator: " ").at(1)
        #expect(processes[1].hasSuffix(", forked from \(parent)"), "\(info)")
    }

    /// A process with its id in a namespace of its own outlives `CMD`: its buffer stays its own while another one begins,
    /// though no process here has that id.
    @Test(.enabled(if: Privilege.isRoot)) func otherNamespace() throws {
        let binary = try Binaries.instrumented("waiting.c", .gccO2)
        let directory = try TemporaryDirectory("namespace")
        let session = directory.file("session.fathom")
        let inner = directory.file("inner")
        try writeFile(
            Array(
                """
                echo $(($1 - 1)) > /proc/sys/kernel/ns_last_pid
                cd "$2"
                "$3" one go-one &
                for i in $(seq 1000); do [ -e second ] && break; sleep 0.02; done
                "$3" two go-two
                wait
                """.utf8), to: inner)
        let outer = """
            p=30000; while [ -e /proc/$p ]; do p=$((p - 1)); done
            unshare --pid --fork sh "$0" $p "$1" "$2" &
            for i in $(seq 1000); do [ -e "$1/one" ] && break; sleep 0.02; done
            """
        let recorded = try Fathom.record(
            ["sh", "-c", outer, inner, directory.path, binary], into: session, options: ["--quiet", "--force"])
        #expect(recorded.status == 0)
        for (made, awaited) in [("second", "two"), ("go-one", nil), ("go-two", nil)] {
            try writeFile([], to: directory.file(made))
            if let awaited { #expect(waitUntil { access(directory.file(awaited), F_OK) == 0 }) }
            usleep(50_000)
        }
        #expect(waitUntil { access(session + "/buffers", F_OK) != 0 })
        #expect(try Dump(session).counts() == ["main": 2, "before": 200, "after": 200])
    }

    /// Every image of every process is there, under its own number.
    @Test(arguments: Build.all)
    func everyImageIsAProcess(_ build: Build) throws {
        let binary = try Binaries.instrumented("spawn.c", build)
        let directory = try TemporaryDirectory("images")
        let session = directory.file("session.fathom")
        let rounds = 5
        #expect(try Fathom.record([binary, "\(rounds)"], into: session).status == 0)
        var mains: [Int: Int] = [:]
        try Dump(session).forEach { line in
            guard line.kind == "enter", line.text(.function) == "main" else { return }
            mains[line.number(.process) ?? -1, default: 0] += 1
        }
        // The first image, three leaves a round and a chain of six images a round: each its own process of one main.
        #expect(mains.count == 1 + rounds * 9)
        #expect(mains.values.allSatisfy { $0 == 1 })
    }

    /// A child that was forked while its parent's first traced call was still starting the recording neither hangs nor is
    /// missing.
    @Test func forkDuringTheFirstCall() throws {
        let binary = try Binaries.instrumented("first_fork.c", .gccO2)
        let directory = try TemporaryDirectory("first")
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([binary], into: session).stdout == "300 of 300\n")
        #expect(try Dump(session).counts() == ["leaf": 600])
    }

    /// Who becomes a program without hooks has ended by that.
    @Test func execOfAnUninstrumentedProgram() throws {
        let directory = try TemporaryDirectory("exec")
        let session = directory.file("session.fathom")
        let binary = try Toolchain.compile(
            sources: [
                "exec.c": """
                #include <sys/wait.h>
                #include <unistd.h>
                static void leaf(void) {}
                int main(void) {
                    if (fork() == 0) {
                        leaf();
                        execl("/nonexistent", "none", (char *)0);
                        execl("/bin/true", "true", (char *)0);
                    }
                    return wait(0) < 0;
                }
                """
            ], compiler: .gcc, flags: ["-finstrument-functions"], output: directory.file("exec"))
        #expect(try Fathom.record([binary], into: session).status == 0)
        let info = try Fathom.run(["info", session]).stdout
        #expect(info.contains("replaced itself by exec"), "\(info)")
        #expect(!info.contains("without a word"), "\(info)")
    }

    /// Threads carry the names they gave themselves.
    @Test func threadNames() throws {
        let binary = try Binaries.instrumented("threads.c", .gccO2)
        let directory = try TemporaryDirectory("names")
        let session = directory.file("session.fathom")
        #expect(try Fathom.record([binary], into: session).status == 6)
        let tree = try Fathom.run(["tree", session, "--format", "json"]).stdout
        for name in ["returns", "exits", "deferred", "asynchronous"] {
            #expect(tree.contains("\"name\":\"\(name)"), "\(name)")
        }
    }

    /// The summary is one line or a few on standard error; `--quiet` leaves nothing.
    @Test func summary() throws {
        let binary = try Binaries.instrumented("fib.c", .gccO2)
        let directory = try TemporaryDirectory("summary")
        let session = directory.file("session.fathom")
        let spoken = try Fathom.record([binary, "10"], into: session, options: [])
        #expect(spoken.stdout == "55\n")
        #expect(spoken.stderr.contains("178"))
        #expect(spoken.stderr.contains("fathom tree"))
        #expect(spoken.stderr.contains(session))
        let quiet = try Fathom.record([binary, "10"], into: session)
        #expect(quiet.stdout == "55\n")
        #expect(quiet.stderr == "")
    }
}
