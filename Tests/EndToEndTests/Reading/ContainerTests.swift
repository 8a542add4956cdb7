import Glibc
import TestSupport
import Testing

/// Another root than the system's.
private enum Root {
    /// What enters a root; its path and the command follow.
    static let enter = Privilege.isRoot ? ["chroot"] : ["unshare", "-m", "-r", "chroot"]

    static let isAllowed = (try? run(enter[0], enter.dropFirst() + ["/", "true"]))?.status == 0
}

/// A session shows the same in a root where nothing is but fathom, its libraries in a place of their own, and the session.
@Suite(.enabled(if: Root.isAllowed, "neither chroot nor user namespaces are allowed"))
struct ContainerTests {
    private let directory: TemporaryDirectory
    private let root: String

    init() throws {
        directory = try TemporaryDirectory("container")
        root = try directory.makeDirectory("root")
        let place = try directory.makeDirectory("root/opt/fathom/lib")
        _ = try run("cp", [Fathom.executable, "\(root)/opt/fathom/fathom"])
        var files = try run("ldd", [Fathom.executable]).stdout.split(separator: "\n").compactMap {
            $0.split(separator: " ").dropFirst(2).first.map(String.init)
        }
        // Of the loader, the line has nothing but its path.
        let loader = try #require(
            try run("ldd", [Fathom.executable]).stdout.split(separator: "\n").compactMap {
                $0.split(whereSeparator: \.isWhitespace).first.map(String.init)
            }.first { $0.hasPrefix("/") && $0.contains("/ld-") })
        files = files.filter { $0.hasPrefix("/") }
        try #require(files.count > 5)
        for file in files { _ = try run("cp", ["-L", file, place]) }
        _ = try run("cp", ["-L", loader, "\(place)/ld.so"])
    }

    enum Program: String, CaseIterable, Sendable { case c, cxx, swift }

    private static let cxx = """
        #include <cstdio>
        #include <dlfcn.h>
        #include <functional>
        #include <map>
        #include <mutex>
        #include <string>
        #include <thread>
        namespace shop {
        struct Error { int code; };
        template <class T> struct Basket {
            std::map<std::string, T> things;
            __attribute__((noinline)) void put(const std::string &name, T thing) { things[name] = thing; }
            __attribute__((noinline)) T sum() const {
                T sum{};
                for (auto &[name, thing] : things) sum += thing;
                return sum;
            }
        };
        std::mutex lock;
        __attribute__((noinline)) int pay(int n) {
            if (n % 3 == 0) throw Error{n};
            return n;
        }
        }
        int main() {
            auto price = (int (*)(int))dlsym(dlopen("./l.so", RTLD_NOW), "price");
            shop::Basket<int> basket;
            shop::lock.lock();
            std::thread other([&] { std::lock_guard<std::mutex> guard(shop::lock); basket.put("other", price(1)); });
            for (int n = 0; n < 30; n++) {
                try { basket.put("thing" + std::to_string(n), price(shop::pay(n))); } catch (shop::Error &) {}
            }
            shop::lock.unlock();
            other.join();
            return basket.sum() == 0;
        }

        """
    private static let cxxLibrary = """
        #include <numeric>
        #include <vector>
        namespace prices {
        template <class T> __attribute__((noinline)) T total(const std::vector<T> &all) {
            return std::accumulate(all.begin(), all.end(), T{});
        }
        struct List {
            virtual int at(int n) { return total(std::vector<int>(n, 3)); }
            virtual ~List() {}
        };
        }
        extern "C" int price(int n) {
            prices::List list, *volatile some = &list;
            return some->at(n);
        }

        """
    private static let swift = """
        protocol Shape { func area() -> Double }
        class Base: Shape { func area() -> Double { 1 } }
        final class Circle: Base { override func area() -> Double { 3 } }
        extension Array where Element == any Shape { var total: Double { reduce(0) { $0 + $1.area() } } }
        actor Counter {
            var sum = 0
            func add(_ number: Int) -> Int { sum += number; return sum }
        }
        func later(_ limit: Int) async -> Int { await Task.yield(); return (0..<limit).filter { $0 % 3 == 0 }.count }
        let counter = Counter()
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<4 { group.addTask { await counter.add(await later(number * 20)) } }
            for await _ in group {}
        }
        print(([Circle(), Base()] as [any Shape]).total, await counter.sum)

        """

    /// - Returns: the command that runs it.
    private func build(_ program: Program) throws -> [String] {
        if program == .c {
            try LastingProgram.build(.old, in: directory)
            return ["./p", "./l.so", "70"]
        }
        _ = try directory.write(program == .cxx ? Self.cxx : Self.swift, to: program == .cxx ? "p.cpp" : "p.swift")
        _ = try directory.write(Self.cxxLibrary, to: "l.cpp")
        let commands =
            program == .cxx
            ? [
                ["g++", "-g", "-O1", "-finstrument-functions", "p.cpp", "-o", "p", "-ldl", "-pthread"],
                ["g++", "-g", "-O1", "-finstrument-functions", "-shared", "-fPIC", "l.cpp", "-o", "l.so"],
            ] : [[Fathom.executable, "build", "--", "swiftc", "-g", "-Onone", "p.swift", "-o", "p"]]
        for command in commands {
            let made = try run(
                command[0], Array(command[1...]), workingDirectory: directory.path, seconds: 900)
            try #require(made.status == 0, "\(made.stderr)")
        }
        return ["./p"]
    }

    @Test(arguments: Program.allCases, [["--blocked", "--startup"], ["--mode", "profile"]])
    func sameAsAtHome(_ program: Program, _ options: [String]) throws {
        let command = try build(program)
        let recorded = try Fathom.run(
            ["record", "-q"] + options + ["-o", "s.fathom", "--"] + command, workingDirectory: directory.path)
        try #require(recorded.status == 0, "\(recorded.stderr)")
        let more = options.contains("--startup") ? SessionViews.startCommands + [["chain", "--call", "main"]] : []
        let home = try SessionViews("s.fathom", in: directory.path, more: more)
        let known = [Program.c: ["old_leaf"], .cxx: ["prices::total", "shop::pay"], .swift: ["Circle.area", "later"]]
        for name in known[program]! { #expect(home.text.contains(name)) }
        // In Swift, what the compiler has made has no name.
        #expect(home.count > 9 && (program == .swift || !home.text.contains("p+0x")))
        _ = try run("cp", ["-a", directory.file("s.fathom"), root])
        let fathom =
            Root.enter + [root, "/opt/fathom/lib/ld.so", "--library-path", "/opt/fathom/lib", "/opt/fathom/fathom"]
        let away = try SessionViews("s.fathom", in: root, fathom: fathom, more: more)
        #expect(away.differences(from: home) == [])
        guard program == .cxx else { return }
        #expect(try Fathom.run(["pack", "s.fathom"], workingDirectory: directory.path).status == 0)
        let packed = try SessionViews("s.fathomz", in: directory.path, more: more)
        #expect(packed.count == home.count)
        _ = try run("cp", ["-a", directory.file("s.fathomz"), root])
        let packedAway = try SessionViews("s.fathomz", in: root, fathom: fathom, more: more)
        #expect(packedAway.differences(from: packed) == [])
    }
}
