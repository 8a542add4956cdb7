import TestSupport
import Testing

/// A recording's page with all inside, opened from its file.
@Suite struct SavedPageTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory("saved") }

    /// A recording of two threads, one of which waits for the other.
    private func recording(calls: Int = 20_000) throws -> String {
        let source = try directory.write(
            """
            #include <pthread.h>
            #include <unistd.h>
            static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
            static volatile int sum;
            void leaf(int n) { sum += n; }
            void nap(int n) { usleep(n); }
            void hold(void) { pthread_mutex_lock(&lock); nap(30000); pthread_mutex_unlock(&lock); }
            void *work(void *none) { for (int i = 0; i < \(calls); i++) leaf(i); hold(); return none; }
            int main(void) {
                pthread_t thread;
                pthread_mutex_lock(&lock);
                pthread_create(&thread, 0, work, 0);
                nap(40000);
                pthread_mutex_unlock(&lock);
                pthread_join(thread, 0);
            }

            """, to: "program.c")
        let program = directory.file("program"), session = directory.file("program.fathom")
        let built = try Fathom.run(["build", "--", "gcc", "-O1", "-g", "-pthread", source, "-o", program])
        try #require(built.status == 0, "\(built.stderr)")
        try #require(try Fathom.record([program], into: session, options: ["--quiet", "--blocked"]).status == 0)
        return session
    }

    private func save(_ session: String) throws -> (page: String, said: String) {
        let page = directory.file("page.html")
        let saved = try Fathom.run(["view", session, "--save", page])
        try #require(saved.status == 0, "\(saved.stderr)")
        return (page, saved.stderr)
    }

    private static let ready =
        "wait typeof session !== 'undefined' && session && pictures.size === lanes.all.length && source.isFrozen"

    /// Each pane has what it asks for, and shows what the command says.
    @Test func everyPaneHasItsAnswer() throws {
        let session = try recording(), (page, said) = try save(session)
        #expect(said.isEmpty, "\(said)")
        let found = try Browser.run(
            page,
            [
                Self.ready, "still", "panes.all.map(pane => pane.key)",
                "do (window.refused = [])",
                "do (ask => { source.ask = async (...words) => { try { return await ask(...words); } "
                    + "catch (problem) { refused.push(words.slice(0, 2).flat().join(' ')); throw problem; } } })(source.ask)",
                "key 2", "wait paneOf('functions').rows?.length > 0",
                "paneOf('functions').rows.map(row => [row.name, row.calls, row.total_ns]).sort()",
                "key 3", "wait paneOf('tree').answer",
                "paneOf('tree').answer.processes[0].threads[0].roots[0].total_ns",
                "do choose({ name: 'leaf', call: null })", "key 4", "wait paneOf('durations').calls?.shown.length > 0",
                "[...paneOf('durations').bars.children].reduce((sum, bar) => sum + Number(bar.firstChild.textContent.replaceAll(',', '')), 0)",
                "key 5", "wait paneOf('waits').grid?.shown.length > 0", "paneOf('waits').grid.shown[0].total_ns",
                "do paneOf('tree').select(paneOf('tree').grid.shown[1])", "key 6",
                "wait paneOf('chain').grid?.shown.length > 0", "key 7",
                "wait paneOf('info').parts?.[0].list.children.length > 5",
                "key 1", "wait graph", "total[0]",
                "do (async () => { for (const [key] of widthChoices()) { choose({ widths: key }); await paneOf('flame').show(); } })()",
                "refused", "panes.all.filter(pane => pane.place.classList.contains('failed')).map(pane => pane.key)",
            ], isFlame: false)
        #expect(found[0] == #"["flame", "functions", "tree", "durations", "waits", "chain", "info"]"#)
        let report = try jq("[.functions[] | [.name, .calls, .total_ns]] | sort", ["report", session])
        #expect(found[1].filter { $0 != " " } == report)
        #expect(
            try found[2] == jq(".processes[0].threads[0].roots[0].total_ns", ["tree", session, "--sort", "time"]))
        #expect(found[3] == "20000")
        #expect(try found[4] == jq(".waits[0].total_ns", ["waits", session]))
        #expect(try found[5] == jq("[.functions[].self_ns] | add", ["report", session]))
        #expect(found[6] == "[]" && found[7] == "[]", "\(found)")
    }

    /// Of a small recording, the page has each call: how long it was, and for how long in itself.
    @Test func everyCallIsThere() throws {
        let session = try recording(calls: 100_000), (page, said) = try save(session)
        #expect(said.isEmpty, "\(said)")
        let found = try Browser.run(
            page,
            [
                Self.ready, "still", "source.tiles.finest", "source.tiles.levels.length > 1",
                """
                (async () => {
                    const track = lanes.all.findIndex(lane => lane.track.calls > 90000), tiles = source.tiles, level = tiles.levels.at(-1);
                    const leaf = book.names.indexOf('leaf'), begins = new Set();
                    for (let at = 0; at < level.tiles.length; at++) {
                        const part = level.tiles[at] && (await tiles.tile(level, at)).get(track);
                        for (let k = part?.first[1] ?? 0; k < (part?.first[2] ?? 0); k++) if (part.fn[k] === leaf) begins.add(part.begin[k]);
                    }
                    const root = session.tracks[track], call = await source.call(track, 0, Math.floor((root.begin + root.end) / 2));
                    return [begins.size, call.name, call.total, call.self];
                })()
                """,
                "do show(session.end - 2000000, session.end)", "wait !timeline.pending && timeline.inFlight.size === 0",
                "element('chips').textContent.includes('sums')",
            ], isFlame: false)
        #expect(found[0] == "0" && found[1] == "true" && found[3] == "false", "\(found)")
        let root = try jq(
            "[.processes[].threads[].roots[] | select(.name == \"work\")][0] | [100000, .name, .total_ns, .self_ns]",
            ["tree", session])
        #expect(found[2].filter { $0 != " " } == root)
    }

    /// Of a long recording, short calls are summed, and the page says so; it is no larger than it may be.
    @Test func aLongRecordingIsSummed() throws {
        let (page, said) = try save(recording(calls: 6_000_000))
        #expect(said.contains("of what is shorter than ") && said.contains("the page shows sums"), "\(said)")
        let size = try readFile(page).count
        #expect(size > 1 << 20 && size < 17 << 19, "\(size)")
        let found = try Browser.run(
            page,
            [
                Self.ready, "still", "element('sum').textContent",
                "do show(session.begin + 5e6, session.begin + 5e6 + 500)",
                "wait element('chips').textContent.includes('sums below')",
                "click [...element('chips').children].find(chip => chip.textContent.includes('sums'))",
                "wait nsPerPx() >= source.tiles.finest", "pictures.size > 0",
            ], isFlame: false)
        #expect(found[0].contains("saved with sums below") && found[1] == "true", "\(found)")
    }

    /// What somebody slips into the page neither runs nor leads out of it.
    @Test func thePolicyHolds() throws {
        let (page, _) = try save(recording())
        for attack in [
            "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.wasRun = 1' }))",
            "fetch('data:text/plain,x').then(() => 1, () => 2)",
        ] {
            let failure = #expect(throws: BrowserFailure.self) {
                _ = try Browser.run(page, [Self.ready, "do \(attack)", "wait true"], isFlame: false)
            }
            #expect(failure?.errors.contains("Content Security Policy") == true)
        }
        let served = try Fathom.run(["view", directory.file("program.fathom"), "--save", "x.html", "--port", "8087"])
        #expect(served.status == 64 && served.stderr.contains("--save writes a page"))
    }
}
