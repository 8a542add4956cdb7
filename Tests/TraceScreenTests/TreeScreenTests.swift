import TestSupport
import Testing

@testable import TraceScreen

@Suite struct TreeScreenTests {
    /// main calls run, which calls parse and sort; sort calls work twice; main calls work.
    private let calls = "mrp.sw.w..." + "w.."

    @Test func showsWhatIsHottest() throws {
        var fixture = try ScreenFixture(calls)
        #expect(
            fixture.body() == [
                "      total      self     calls    function, callees by total",
                ">  130.0 us  30.00 us         1  ▾ main",
                "   90.00 us  30.00 us         1    ▾ run",
                "   50.00 us  30.00 us         1      ▾ sort",
                "   20.00 us  20.00 us         2          work",
                "   10.00 us  10.00 us         1        parse(char const*)",
                "   10.00 us  10.00 us         1      work",
            ])
    }

    @Test func opensAndCloses() throws {
        var fixture = try ScreenFixture(calls)
        fixture.press(.enter)
        #expect(fixture.body().count == 2)
        #expect(fixture.current() == "▸ main")
        fixture.press(.right)
        #expect(fixture.body().count == 7)
        fixture.press(.down, .left)
        #expect(fixture.current() == "▸ run")
        #expect(fixture.body().count == 4)
        // Of a closed path, left leads to its caller.
        fixture.press(.left)
        #expect(fixture.current() == "▾ main")
        fixture.type("E")
        #expect(fixture.body().count == 7)
        fixture.type("C")
        #expect(fixture.body().count == 2)
        fixture.type("x")
        #expect(fixture.body().count == 6)
        fixture.type("c")
        #expect(fixture.body().count == 4)
        fixture.type("C+")
        #expect(fixture.body().count == 4)
        fixture.type("-")
        #expect(fixture.body().count == 2)
    }

    @Test func moves() throws {
        var fixture = try ScreenFixture(calls)
        fixture.press(.end)
        #expect(fixture.current() == "work")
        fixture.type("p")
        #expect(fixture.current() == "▾ run")
        fixture.type("n")
        #expect(fixture.current() == "work")
        fixture.type("n")
        #expect(fixture.current() == "work")
        fixture.type("u")
        #expect(fixture.current() == "▾ main")
        fixture.type("Cl")
        #expect(fixture.current() == "▸ run")
        fixture.type("ll")
        #expect(fixture.current() == "work")
        fixture.type("uk")
        #expect(fixture.current() == "▾ run")
        fixture.press(.home)
        #expect(fixture.current() == "▾ main")
        fixture.type("j")
        #expect(fixture.current() == "▾ run")
    }

    /// Matches are found where nothing is open, in the order in which they would be seen, and from the end again.
    @Test func searches() throws {
        var fixture = try ScreenFixture(calls)
        fixture.type("C/work")
        #expect(fixture.bottom() == "/work")
        fixture.press(.enter)
        #expect(fixture.body().contains { $0.hasPrefix(">") && $0.hasSuffix("          work") })
        let first = fixture.body()
        fixture.type("N")
        #expect(fixture.body().last?.hasPrefix(">") == true)
        fixture.type("N")
        #expect(fixture.body() == first)
        fixture.type("P")
        #expect(fixture.body().last?.hasPrefix(">") == true)
        fixture.type("<")
        #expect(fixture.body() == first)
        fixture.type("/nowhere")
        fixture.press(.enter)
        #expect(fixture.bottom() == "nothing matches 'nowhere'")
        #expect(fixture.body() == first)
        fixture.type("//(/")
        fixture.press(.enter)
        #expect(fixture.bottom() == "'/(/' is not a regular expression")
        fixture.type("/p*")
        fixture.press(.enter)
        #expect(fixture.current() == "parse(char const*)")
        fixture.type("/")
        fixture.press(.escape)
        #expect(fixture.current() == "parse(char const*)")
    }

    @Test func sorts() throws {
        var fixture = try ScreenFixture(calls)
        func names(_ fixture: inout ScreenFixture) -> [Substring] {
            fixture.body().dropFirst().map { $0.split(separator: " ").last ?? "" }
        }
        #expect(names(&fixture) == ["main", "run", "sort", "work", "const*)", "work"])
        fixture.type("sss")
        #expect(fixture.bottom() == "sorted by name")
        #expect(names(&fixture) == ["main", "run", "const*)", "sort", "work", "work"])
        fixture.type("s")
        #expect(fixture.bottom() == "sorted by time")
        fixture.type("s")
        #expect(fixture.bottom() == "sorted by total")
    }

    /// What leads to a function, and what it leads to; two functions of like names stay apart.
    @Test func graphOfAFunction() throws {
        var fixture = try ScreenFixture("mp.rq.q.q..w..", rows: 16)
        fixture.type("/const")
        fixture.press(.enter)
        fixture.type("N")
        fixture.type("gE")
        #expect(fixture.title().contains("graph of parse"))
        let lines = fixture.body().map { $0.split(separator: " ").last ?? "" }
        #expect(lines.filter { $0 == "to" }.count == 1)
        fixture.press(.escape)
        #expect(fixture.title().contains("call tree"))
    }

    /// Ten thousand calls within each other are opened and gone through.
    @Test func deepRecursion() throws {
        let depth = 10_000
        var fixture = try ScreenFixture(
            "m" + String(repeating: "r", count: depth) + String(repeating: ".", count: depth + 1))
        fixture.type("E")
        fixture.press(.end)
        #expect(fixture.body().last?.contains("\(depth)   run") == true)
        fixture.type("uuu")
        #expect(fixture.body().contains { $0.hasPrefix(">") && $0.contains("\(depth - 3) ▾ run") })
        fixture.type("/sort")
        fixture.press(.enter)
        #expect(fixture.bottom() == "nothing matches 'sort'")
        fixture.press(.home)
        fixture.type("C")
        #expect(fixture.body().count == 2)
    }
}
