internal import CTraceFormat
import TestSupport
import Testing

/// Recordings that are the same on every machine: their records are written by the test, and only the functions' names and lines
/// are those of a program that a compiler made.
struct ScreenSessions {
    let directory: TemporaryDirectory
    /// The functions' places in the program, by name.
    private let places: [String: UInt64]
    private static let bias: UInt64 = 0x5555_0000_0000

    private static let source = """
        namespace project {
        namespace parsing {
        struct Token { int kind; };
        struct Cursor { long place; };
        template <class Element, class Position> struct Parser {
            long parse_expression(Element const &element, Position const &position) { return element.kind + position.place; }
        };
        }
        struct Request { long number; };
        struct Cache { long look_up(Request const &request) { return request.number; } };
        long parse_file(char const *path) { return path[0]; }
        void lock_wait() {}
        long render(long value) { return value; }
        long 数える(long number) { return number; }
        void handle(Request &request) {
            lock_wait();
            parsing::Parser<parsing::Token, parsing::Cursor> parser;
            Cache cache;
            request.number = render(cache.look_up(request)) + parse_file("") + 数える(1) + parser.parse_expression({1}, {2});
        }
        }
        template <int N> long step(long number) { return number + N; }
        template <int N> long steps(long number) { if constexpr (N > 0) return step<N>(steps<N - 1>(number)); else return number; }
        int main() {
            project::Request request = {steps<30>(1)};
            project::handle(request);
        }
        """

    /// Makes `prog`, and its sessions `a`, `b`, `c` and `d`, of which the last two took longer, and `waits`. `small` is a program
    /// with hooks that ends at once; `idle`, too, without an argument, and with one it waits for ever.
    init() throws {
        directory = try TemporaryDirectory("screens")
        try directory.makeDirectory("src/parsing")
        let source = try directory.write(ScreenSessions.source, to: "src/parsing/expression.cpp")
        let program = try Toolchain.compile(
            sources: [:], compiler: .gxx, flags: ["-g", "-O0", "-std=c++17", "-Wl,--build-id=none", source],
            output: directory.file("prog"))
        var places: [String: UInt64] = [:]
        for line in try run("nm", ["-C", program]).stdout.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2)
            if words.count == 3, let place = UInt64(words[0], radix: 16) { places[String(words[2])] = place }
        }
        self.places = places
        for (name, scale) in [("a", 100), ("b", 101), ("c", 150), ("d", 152)] as [(String, UInt64)] {
            try write(scale).write(to: directory.file("\(name).fathom"))
        }
        try writeWaits().write(to: directory.file("waits.fathom"))
        try directory.write(
            """
            int leaf(int n) { return n; }
            int main(void) { int sum = 0; for (int i = 0; i < 9; i++) sum += leaf(i); return sum == 0; }

            """, to: "small.c")
        try directory.write(
            """
            #include <unistd.h>
            static void wait_for_work(void) { pause(); }
            static void serve(void) { wait_for_work(); }
            __attribute__((constructor)) static void read_settings(void) { usleep(20000); }
            int main(int count, char **arguments) { if (count > 1) serve(); return !arguments; }

            """, to: "idle.c")
        for name in ["small", "idle"] {
            try Toolchain.compile(
                sources: [:], compiler: .gcc, flags: ["-g", "-finstrument-functions", directory.file("\(name).c")],
                output: directory.file(name))
        }
    }

    private func function(_ name: String) -> UInt64 { ScreenSessions.bias + (places[name] ?? 0) }

    /// - Parameter scale: hundredths that what renders and some others take.
    private func write(_ scale: UInt64) throws -> TraceWriter {
        for name in ["main", "project::handle(project::Request&)", "long step<30>(long)"] {
            try #require(places[name] != nil, "\(places.keys.sorted())")
        }
        let writer = TraceWriter()
        var options = TraceWriter.ChunkOptions()
        options.isMetadata = true
        (options.pid, options.process) = (100, 0)
        var items = MetadataWriter()
        items.process(pid: 100, path: directory.file("prog"), arguments: ["./prog", "--requests", "40"])
        items.module(
            directory.file("prog"), low: ScreenSessions.bias, high: ScreenSessions.bias + 0x100000,
            bias: ScreenSessions.bias)
        items.mark(1, "request")
        items.mark(2, "request without a session cookie")
        items.end(at: 60_000_000, status: 0)
        writer.add(options, records: items.bytes)
        (options.pid, options.process) = (103, 1)
        items = MetadataWriter()
        items.process(pid: 103, parent: 100, forkedFrom: 0, start: 40_000, path: directory.file("prog"))
        items.title(Array("prog: writes the log\0".utf8), at: 41_000)
        items.end(at: 50_000_000, status: 0)
        writer.add(options, records: items.bytes)
        for thread in 1...2 as ClosedRange<UInt32> {
            options = TraceWriter.ChunkOptions()
            (options.pid, options.thread, options.tid) = (100, thread, 99 + thread)
            (options.name, options.begin, options.isLast) = (thread == 1 ? "prog" : "worker", 1000, true)
            let records = requests(of: thread, scale)
            (options.calls, options.end) = (records.calls, records.time)
            writer.add(options, records: records.bytes)
        }
        options = TraceWriter.ChunkOptions()
        (options.process, options.pid, options.thread, options.tid) = (1, 103, 1, 103)
        (options.begin, options.inherited, options.name, options.isLast) = (40_000, 1, "prog", true)
        var records = RecordWriter(time: 40_000)
        records.enter(function("project::parse_file(char const*)"), at: 45_000)
        records.exit(at: 45_000 + 3000 * scale)
        (options.calls, options.end) = (records.calls, records.time)
        let inherited = TraceWriter.PathCall(function: function("main"), enter: 40_000)
        writer.add(options, path: [inherited], records: records.bytes)
        return writer
    }

    /// A recording in which main waits twice for what a worker does, the worker for a lock, and both for time to pass.
    private func writeWaits() -> TraceWriter {
        let writer = TraceWriter()
        writer.tellsWaits = true
        var options = TraceWriter.ChunkOptions()
        (options.isMetadata, options.pid) = (true, 100)
        var items = MetadataWriter()
        items.process(pid: 100, path: directory.file("prog"), arguments: ["./prog"])
        items.module(
            directory.file("prog"), low: ScreenSessions.bias, high: ScreenSessions.bias + 0x100000,
            bias: ScreenSessions.bias)
        items.end(at: 900_000_000, status: 0)
        writer.add(options, records: items.bytes)

        let (semaphore, lock, worker): (UInt64, UInt64, UInt64) = (0x7000, 0x7100, 0x101)
        var records = RecordWriter(time: 1000)
        func wait(_ name: String, _ kind: UInt32, for object: UInt64, from begin: UInt64, to end: UInt64) {
            records.enter(function(name), at: begin)
            records.wait(kind, for: object, ran: 0)
            records.exit(at: end)
        }
        func add(_ number: UInt32, _ name: String, from begin: UInt64) {
            var options = TraceWriter.ChunkOptions()
            (options.pid, options.thread, options.tid, options.name) = (100, number, 99 + number, name)
            (options.begin, options.end, options.calls) = (begin, records.time, records.calls)
            options.isLast = true
            writer.add(options, records: records.bytes)
        }
        records.enter(function("main"), at: 1000)
        records.wake(FATHOM_WAIT_CREATION, for: worker, at: 2000)
        wait("project::lock_wait()", FATHOM_WAIT_SEMAPHORE, for: semaphore, from: 100_000, to: 400_120_000)
        records.enter(function("project::render(long)"), at: 400_130_000)
        records.exit(at: 420_000_000)
        wait("project::lock_wait()", FATHOM_WAIT_THREAD, for: worker, from: 420_500_000, to: 800_080_000)
        records.exit(at: 800_200_000)
        add(1, "prog", from: 1000)

        records = RecordWriter(time: 50_000)
        records.wake(FATHOM_WAIT_BEGINNING, for: worker, at: 50_000)
        records.enter(function("project::handle(project::Request&)"), at: 60_000)
        wait("project::parse_file(char const*)", FATHOM_WAIT_SLEEP, for: 0, from: 1_000_000, to: 301_000_000)
        for index in 0..<12 as Range<UInt64> {
            let begin = 301_500_000 + index * 8_000_000
            let end = begin + 5_000_000 + index * 1000
            wait("project::lock_wait()", FATHOM_WAIT_MUTEX, for: lock, from: begin, to: end)
        }
        records.wake(FATHOM_WAIT_SEMAPHORE, for: semaphore, at: 400_000_000)
        wait("project::parse_file(char const*)", FATHOM_WAIT_SLEEP, for: 0, from: 401_000_000, to: 799_000_000)
        records.exit(at: 800_000_000)
        records.wake(FATHOM_WAIT_THREAD, for: worker, at: 800_000_000)
        add(2, "worker", from: 50_000)

        // Another thread has the lock meanwhile, again and again.
        records = RecordWriter(time: 300_000_000)
        for index in 0..<12 as Range<UInt64> {
            let begin = 301_000_000 + index * 8_000_000
            records.enter(function("project::render(long)"), at: begin)
            records.wake(FATHOM_WAIT_MUTEX, for: lock, at: begin + 5_490_000, held: 5_400_000)
            records.exit(at: begin + 5_495_000)
        }
        add(3, "holder", from: 300_000_000)
        return writer
    }

    private func requests(of thread: UInt32, _ scale: UInt64) -> RecordWriter {
        var records = RecordWriter(time: 1000)
        var time: UInt64 = 1000
        func call(_ name: String, for duration: UInt64, _ body: () -> Void = {}) {
            records.enter(function(name), at: time, siteOffset: 4)
            body()
            time += duration
            records.exit(at: time)
        }
        records.enter(function("main"), at: time)
        for step in 1...30 as ClosedRange<UInt64> {
            for _ in 0..<3 { call("long step<\(step)>(long)", for: step * (step % 7 == 0 ? scale : 100)) }
        }
        for request in 0..<40 as Range<UInt64> {
            let (waits, parses) = (request % 20 == 7, request % 20 == 11)
            records.mark(parses ? 2 : 1, at: time)
            time += 300
            records.enter(function("project::handle(project::Request&)"), at: time)
            call("project::lock_wait()", for: waits ? 3_000_000 + request * 10_000 : 90)
            call("project::Cache::look_up(project::Request const&)", for: 800 + request * 10) {
                if parses { call("project::parse_file(char const*)", for: 2_500_000 + request * 70_000) }
            }
            let parser = "project::parsing::Parser<project::parsing::Token, project::parsing::Cursor>"
            call(
                "\(parser)::parse_expression(project::parsing::Token const&, project::parsing::Cursor const&)",
                for: 40 * scale
            ) { call("project::数える(long)", for: 1500) }
            for _ in 0..<2 { call("project::render(long)", for: 200 * scale + request * scale) }
            if scale > 120 { call("project::数える(long)", for: 700) }
            time += 400
            if request == 27, thread == 2 { records.unwind(1, at: time) } else { records.exit(at: time) }
        }
        if thread == 1 { records.exit(at: time + 500) }
        return records
    }
}
