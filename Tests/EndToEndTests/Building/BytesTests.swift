import TestSupport
import Testing

/// Arguments of compilers, names of files and what variables hold are bytes, and need not be UTF-8.
@Suite struct BytesTests {
    /// Builds in a directory with such a name, by a script in which $0 is `fathom build` and its options, and $CC a compiler.
    private static let script = #"""
        set -e
        city=$(printf 'Z\374rich') dir=$(printf 'caf\351')
        mkdir "$dir"
        cp c.c "$dir/$city.c"
        # In one step, an argument and names; in two, with a list of dependencies, in that directory.
        "$@" "$CC" "-DCITY=\"$city\"" "$dir/$city.c" -o "one $city"
        (cd "$dir"; "$@" "$CC" -MD -MF "$city.d" '-DCITY="x"' -c "$city.c" -o "$city.o"; "$@" "$CC" "$city.o" -o two)
        # Arguments that are in a file, and a Makefile's.
        printf '%s' "-DCITY=\\\"$city\\\" c.c -o \"three $city\"" >"$city.args"
        "$@" "$CC" "@$city.args"
        printf 'four:\n\t%s -DCITY=\\"%s\\" -o four c.c\n' "$CC" "$city" >Makefile
        "$@" make
        # A compiler by a path, and a cache.
        ln -s "$(command -v "$CC")" "$dir/$CC"
        CC=$PWD/$dir/$CC "$@" sh -c '$CC "-DCITY=\"y\"" c.c -o five'
        XDG_CACHE_HOME="$PWD/$dir" PATH="$PWD/$dir:$PATH" "$@" "$CC" '-DCITY="y"' c.c -o six
        for program in "./one $city" "$dir/two" "./three $city" ./four ./five ./six; do "$program" "$city"; done
        head -c 9 "$dir/$city.d" | od -An -tx1
        """#

    @Test(
        arguments: ["gcc", "clang"],
        [[], ["--dormant"], ["--exclude-function", "nothing"], ["--only", "."], ["--system-headers"]])
    func builds(_ compiler: String, _ options: [String]) throws {
        let plain = try output(of: compiler, ["env"])
        #expect(plain.stdout.split(separator: "\n").count == 8, "\(plain.stderr)")
        let built = try output(of: compiler, [Fathom.executable, "build"] + options + ["--"])
        #expect(built.stdout == plain.stdout, "\(built.stderr)")
        #expect(!built.stderr.contains("0 of"), "\(built.stderr)")
    }

    private func output(of compiler: String, _ build: [String]) throws -> ProcessOutput {
        let directory = try TemporaryDirectory("bytes")
        _ = try directory.write(
            """
            #include <stdio.h>
            static void put(const char *text) { for (; *text; text++) printf("%02x", (unsigned char)*text); }
            int main(int count, char **words) { put(CITY), put(words[1]), puts(""); return count - 2; }

            """, to: "c.c")
        return try run(
            "sh", ["-c", Self.script, "sh"] + build,
            environment: Fathom.inherited(adding: ["CC": compiler, "XDG_CACHE_HOME": directory.file("cache")]),
            workingDirectory: directory.path)
    }

    /// A program gets them as they are, and `info` shows them as a shell takes them.
    @Test func recordings() throws {
        let directory = try TemporaryDirectory("bytes")
        let program = directory.file("echo"), session = directory.file("session.fathom")
        let source = try directory.write(
            "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **w) { printf(\"%s %s\\n\", w[1], getenv(\"V\")); return n - 2; }\n",
            to: "echo.c")
        #expect(try run("gcc", ["-finstrument-functions", source, "-o", program]).status == 0)
        let script =
            #"V=$(printf '\351') "$0" record -q -o "$1" -- "$2" "$(printf 'a\377')" | od -An -tx1; "$0" info "$1""#
        let recorded = try run("sh", ["-c", script, Fathom.executable, session, program])
        let lines = recorded.stdout.split(separator: "\n")
        #expect(lines.first == " 61 ff 20 e9 0a", "\(recorded.stderr)")
        #expect(recorded.stdout.contains("$'a\\xff'"), "\(recorded.stdout)")
    }
}
