"""Real programs, and their own test suites, for Tools/differential --real: what Debian's sources are, how they are built, and how tested.

Each is built in a copy of its sources without Fathom and by it; the suite runs once with the first, and recorded, in each mode,
with the second. Its status has to be the same, and the lines of its output that SHOWS finds.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess

import builds
import checks
import modes
import runs

HERE = pathlib.Path(__file__).resolve().parents[2]
Real = collections.namedtuple("Real", "package build test shows")

# The scripts run in the source's directory, with CC, CXX and CFLAGS set. A suite that takes an hour is cut to a part of it.
PROGRAMS = {
    "lua": Real("lua5.4", 'make -C src -j2 CC="$CC -std=gnu99" MYCFLAGS="$CFLAGS -DLUA_USE_LINUX" MYLIBS="-Wl,-E -ldl" CFLAGS="$CFLAGS -DLUA_USE_LINUX \
                -DLUA_COMPAT_5_3" lua luac',
                f"src/lua {HERE}/Traces/bench/script.lua; src/lua {HERE}/Traces/differential/suite.lua; src/luac -l -p {HERE}/Traces/differential/suite.lua | wc -l", ""),
    "sqlite": Real("sqlite3", "./configure --disable-tcl --disable-readline --disable-shared >/dev/null && make sqlite3.c shell.c sqlite3.h >/dev/null && \
                   $CC $CFLAGS -DSQLITE_THREADSAFE=1 sqlite3.c shell.c -o sqlite3 -ldl -lpthread -lm && \
                   $CC $CFLAGS -DSQLITE_THREADSAFE=1 -I. sqlite3.c test/speedtest1.c -o speedtest1 -ldl -lpthread -lm",
                   f"rm -f t.db; ./sqlite3 t.db <{HERE}/Traces/differential/suite.sql; ./sqlite3 t.db .dump; rm -f s.db; \
                   ./speedtest1 --verify --size 2 s.db | sed 's/[0-9.]*s$//'", ""),
    "jq": Real("jq", "touch src/parser.[chy] src/lexer.[ch]; autoreconf -fi >/dev/null 2>&1; ./configure --disable-docs --disable-maintainer-mode --without-oniguruma \
               >/dev/null && make -j2 >/dev/null",
               "awk 'BEGIN { RS = \"\"; ORS = \"\\n\\n\" } NR % 8 == 1' tests/jq.test >part.test; ./jq -L tests/modules --run-tests part.test; \
               for suite in shtest utf8test base64test optionaltest; do NO_VALGRIND=1 sh tests/$suite 2>&1; echo $suite $?; done", r"^Test|tests passed|\*\*\*|test \d+$"),
    "zstd": Real("libzstd", 'make -C programs -j2 CC="$CC" CFLAGS="$CFLAGS" zstd && make -C tests -j2 CC="$CC" CFLAGS="$CFLAGS" fuzzer zstreamtest datagen',
                 "tests/fuzzer -i20 -s5346 -t1; tests/zstreamtest -i10 -s104 -t1; tests/cli-tests/run.py --timeout 0 --zstd $PWD/programs/zstd \
                 --zstdgrep $PWD/programs/zstdgrep --zstdless $PWD/programs/zstdless --datagen $PWD/tests/datagen; tests/datagen -g3000000 >in; \
                 programs/zstd -T2 -9 -f -q in -o in.zst; sha1sum in.zst; programs/zstd -d -f -q in.zst -o out; cmp in out && echo equal",
                 r"completed|[Ee]rror|FAIL|PASS|in.zst|equal"),
    "dash": Real("dash", './configure CC="$CC" CFLAGS="$CFLAGS" >/dev/null && make -j2',
                 f"src/dash {HERE}/Traces/differential/suite.sh", ""),
    "ninja": Real("ninja-build", 'CXX="$CXX" CFLAGS="$CFLAGS" ./configure.py >/dev/null && ninja -j2 ninja ninja_test',
                  "rm -rf t; mkdir t; (cd t && ../ninja_test | tr '\\r' '\\n'); python3 misc/output_test.py 2>&1 | sed 's/ in [0-9.]*s//'; ./ninja -t targets all | sort; \
                  touch src/lexer.cc; ./ninja -n -d explain 2>&1 | sed 's/ ([0-9]* vs [0-9]*)//'", r"^(?!\[\d+/\d+\] \w+\.\w+$|.*recorded mtime)"),
    # Its tests choose ports from the base on, and two suites may run at once.
    "redis": Real("redis", 'make -j2 MALLOC=libc CC="$CC" OPTIMIZATION= CFLAGS="$CFLAGS" redis-server redis-cli redis-benchmark -C src',
                  r"""./runtest --baseport $((20000 + $$ % 4 * 8000)) --clients 1 --single unit/type/hash --single unit/multi --single unit/pubsub \
                  --single unit/scripting --single unit/networking --single unit/lazyfree | sed 's/\x1b\[[0-9;]*m//g; s/ ([0-9]* ms)//'""",
                  r"All tests passed|\[ok\]|\[err\]|[Ee]xception"),
}
BUILDS = ["gcc-O2-hooks", "gcc-O2-dormant", "gcc-O1-dormant", "clang-O2-dormant", "clang-O1-dormant", "clang-O2-hooks"]
MODES = ["trace+args", "profile", "counts", "flight", "stack", "trace+blocked+memory", "trace+returns+budget"]
SUITE_BOUND = 1800


def script(text, directory, prefix=(), build=None, bound=SUITE_BOUND):
    environment = {}
    if build:
        environment = {"CC": builds.COMPILERS[build.compiler]["c"], "CXX": builds.COMPILERS[build.compiler]["c++"],
                       "CFLAGS": " ".join([f"-{build.level}", "-g", "-w", *(word for flag in build.flags for word in builds.FLAGS[flag])])}
    process = runs.start([*prefix, "sh", "-c", text], directory, environment)
    # Files are not compared: a build's directory is full of them.
    try:
        stdout, stderr = process.communicate(timeout=bound)
    except subprocess.TimeoutExpired:
        runs.end_group(process)
        process.communicate()
        raise runs.Hangs(f"hangs for {bound} s") from None
    finally:
        runs.end_group(process)
    return runs.Outcome(process.returncode, stdout, stderr, {})


class Suite:
    """The copies of one program's sources in one build."""

    def __init__(self, fathom, name, build, place):
        self.fathom, self.real, self.build, self.place = fathom, PROGRAMS[name], build, place / f"{name}-{build.name}"
        self.plain, self.made = self.place / "plain", self.place / "made"
        source = place / "src" / self.real.package
        if not source.exists():
            subprocess.run([HERE / "Tools" / "fetch-source", place / "src", self.real.package], check=True)
        shutil.rmtree(self.place, ignore_errors=True)
        for directory, prefix in (self.plain, []), (self.made, [fathom, "build", *builds.KINDS[build.kind], "--"]):
            shutil.copytree(source, directory, symlinks=True)
            built = script(self.real.build, directory, prefix, build)
            if built.status:
                text = built.stderr.decode(errors="replace")
                refused = re.search("^fathom: error:.*", text, re.M)
                if refused:
                    raise builds.Refused(refused[0])
                raise builds.FailedByFathom("by fathom build, not without: " + builds.last_line(text)) if prefix else builds.Failed(builds.last_line(text))
        self.expected = self.shown(script(self.real.test, self.plain))

    def shown(self, outcome):
        lines = (outcome.stdout + outcome.stderr).decode(errors="replace").replace(str(self.made), "").replace(str(self.plain), "").splitlines()
        return outcome.status, [line for line in lines if re.search(self.real.shows, line) and not line.startswith("fathom: ")]

    def modes(self):
        """Those that Fathom takes for this build."""
        is_dormant = self.build.kind == "dormant"
        return [mode for mode in map(modes.Mode, MODES) if set(mode.options) <= set(modes.options_for(mode.base, is_dormant))]

    def check(self, mode):
        """How many calls were recorded."""
        session = self.place / "s.fathom"
        shutil.rmtree(session, ignore_errors=True)
        large = ["--max-size", "300M"] if mode.base == "trace" else []
        prefix = [self.fathom, "record", "-q", "--force", *large, *mode.arguments(), "-o", str(session), "--"]
        status, lines = self.shown(script(self.real.test, self.made, prefix))
        if status != self.expected[0]:
            raise checks.Different(f"status {status}, without {self.expected[0]}: {lines[-2:]}")
        for index, pair in enumerate(zip(lines + [None] * len(self.expected[1]), self.expected[1] + [None] * len(lines))):
            if pair[0] != pair[1]:
                raise checks.Different(f"line {index + 1} of the suite: {pair[0]!r}, without {pair[1]!r}")
        if mode.base == "flight" and not session.exists():
            return 0
        return checks.check_damage(self.fathom, session)["calls"]

    def remove(self):
        shutil.rmtree(self.place, ignore_errors=True)
