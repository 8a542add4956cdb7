"""The builds of Tools/differential, written as COMPILER-LEVEL-KIND[-LINK][-FLAG...]: gcc-O2-dormant-static-cf; and the compilers and
seeds of all tools that make programs of seeds."""

import os
import shutil
import subprocess

COMPILERS = {
    "gcc": {"c": "gcc", "c++": "g++"},
    "clang": {"c": "clang", "c++": "clang++"},
    "clang14": {"c": "clang-14", "c++": "clang++-14"},
}
LEVELS = ["O0", "O1", "O2", "O3", "Os"]
# What fathom build is asked for. In "plain" builds, it is not there.
KINDS = {"hooks": [], "dormant": ["--dormant"], "after": ["--after-inlining"], "plain": None}
LINKS = {
    "pie": ["-fPIE", "-pie"],
    "nopie": ["-fno-pie", "-no-pie"],
    "static": ["-static"],
    "staticpie": ["-fPIE", "-static-pie"],
}
FLAGS = {
    "cf": ["-fcf-protection=full"],
    "native": ["-march=native"],
    "large": ["-mcmodel=large"],
    "lto": ["-flto"],
    "asan": ["-fsanitize=address"],
    "ubsan": ["-fsanitize=undefined"],
    "tsan": ["-fsanitize=thread"],
    "frame": ["-fno-omit-frame-pointer"],
    "noframe": ["-fomit-frame-pointer"],
    "apart": ["-fno-inline"],
    "sections": ["-ffunction-sections", "-Wl,--gc-sections"],
    "nodebug": ["-g0"],
    "align": ["-falign-functions=64", "-falign-loops=32"],
    # The program notes its calls; see counted.h.
    "counted": ["-DCOUNTED"],
    "stackcheck": ["-fstack-protector-all", "-fstack-clash-protection"],
}
SANITIZERS = ("asan", "ubsan", "tsan")


def seeds_of(words):
    """The numbers that words such as 7 and 1-20 stand for."""
    for word in words:
        first, _, last = str(word).partition("-")
        yield from range(int(first), int(last or first) + 1)


def compilers_here():
    return [name for name, commands in COMPILERS.items() if all(map(shutil.which, commands.values()))]


class Refused(Exception):
    """Fathom says in one line that it does not do this."""


class Failed(Exception):
    """The compiler itself does not build this."""


class FailedByFathom(Exception):
    """Only by fathom build."""


EMPTY_HOOKS = """
void __cyg_profile_func_enter(void *function, void *site) { (void)function, (void)site; }
void __cyg_profile_func_exit(void *function, void *site) { (void)function, (void)site; }
"""


class Build:
    def __init__(self, name):
        self.name = name
        self.compiler, self.level, self.kind, *rest = name.split("-")
        self.link = next((word for word in rest if word in LINKS), "pie")
        self.flags = [word for word in rest if word in FLAGS]
        unknown = [word for word in rest if word not in LINKS and word not in FLAGS]
        if unknown or self.compiler not in COMPILERS or self.kind not in KINDS:
            raise SystemExit(f"differential: there is no build '{name}'")

    @property
    def inlines(self):
        return self.level != "O0" and "apart" not in self.flags

    def as_dormant(self):
        return Build(self.name.replace(f"-{self.kind}", "-dormant"))

    def simpler(self):
        """Builds that differ by one thing, and are simpler by it."""
        def named(compiler=self.compiler, level=self.level, link=self.link, flags=self.flags):
            return Build("-".join([compiler, level, self.kind, *([link] if link != "pie" else []), *flags]))

        for flag in self.flags:
            yield named(flags=[other for other in self.flags if other != flag])
        if self.link != "pie":
            yield named(link="pie")
        for level in LEVELS[: LEVELS.index(self.level)]:
            yield named(level=level)

    def command(self, language, flags):
        words = [COMPILERS[self.compiler][language], f"-{self.level}", "-g", "-w", *LINKS[self.link], *flags]
        for flag in self.flags:
            words += FLAGS[flag]
        return words

    def make(self, fathom, source, plain, binary, language, flags):
        """Builds the program without Fathom and by it. Returns what fathom build warns of."""
        command = self.command(language, flags)
        made = subprocess.run([*command, source, "-o", plain], capture_output=True, text=True, timeout=300)
        if made.returncode:
            raise Failed(last_line(made.stderr))
        if self.kind == "plain":
            shutil.copy(plain, binary)
            return []
        made = subprocess.run([fathom, "build", *KINDS[self.kind], "--", *command, source, "-o", binary],
                              capture_output=True, text=True, timeout=300)
        own = [line for line in made.stderr.splitlines() if line.startswith("fathom: ")]
        if made.returncode:
            refusal = next((line for line in own if line.startswith("fathom: error:")), None)
            if refusal:
                raise Refused(refusal)
            if "internal compiler error" in made.stderr or "PLEASE submit a bug report" in made.stderr:
                raise Failed(last_line(made.stderr))
            raise FailedByFathom("by fathom build, not without: " + last_line(made.stderr))
        return [line for line in own if "warning" in line]

    def make_bare(self, source, binary, language, flags):
        """Builds the program with the compiler's own hooks, which do nothing."""
        hooks = binary.parent / "hooks.c"
        hooks.write_text(EMPTY_HOOKS)
        made = hooks.with_suffix(".o")
        subprocess.run([COMPILERS[self.compiler]["c"], *LINKS[self.link], "-c", hooks, "-o", made], check=True, capture_output=True,
                       timeout=300)
        kind = "-finstrument-functions" + ("-after-inlining" if self.kind == "after" else "")
        made = subprocess.run([*self.command(language, flags), kind, source, made, "-o", binary], capture_output=True, text=True, timeout=300)
        if made.returncode:
            raise Failed(last_line(made.stderr))


def last_line(text):
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [""]
    return lines[0][:300]


def environment():
    """Sanitizers say where things lie, and look for leaks by ptrace."""
    return dict(os.environ, ASAN_OPTIONS="detect_leaks=0", TSAN_OPTIONS="report_bugs=0")
