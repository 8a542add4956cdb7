"""Makes a case of Tools/differential that shows a difference smaller: fewer options, flags, a simpler level, a smaller program."""

import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import builds
import cases
import checks
import modes
import programs
import runs

TOOL = pathlib.Path(__file__).resolve().parents[2] / "Tools" / "differential"


def difference(fathom, name, build, mode, before=None):
    """The first difference of a case, None where there is none; `before` is a mode that it is compared with."""
    try:
        with cases.Case(fathom, programs.make(name), build) as case:
            case.make()
            for one in [before, mode] if before else [mode]:
                result = case.check(one)
                if result.kind == "different":
                    return result.text
    except (checks.Different, runs.Hangs, builds.FailedByFathom) as error:
        return str(error)
    except (programs.Unfit, builds.Refused, builds.Failed, subprocess.TimeoutExpired):
        pass
    return None


def kind_of(text):
    """Two differences of one kind may have one cause."""
    for word in ("by fathom build", "status", "hangs", "not recorded", "argument", "result of", "in truth", "stdout", "stderr", "file", "damage"):
        if word in text:
            return word
    return "numbers"


def shrink(fathom, name, build, mode, text, before=None, tries=40):
    """The smallest case found, and its difference."""
    kind, best = kind_of(text), (name, build, mode)

    def better():
        name, build, mode = best
        for simpler in mode.simpler():
            yield name, build, simpler
        for simpler in build.simpler():
            yield name, simpler, mode
        family, _, rest = name.partition(":")
        seed, _, limits = rest.partition(":")
        smaller = programs.SMALLER.get(family, [])
        for limit in smaller[: smaller.index(limits) if limits in smaller else None]:
            for other in range(4):
                yield f"{family}:{int(seed) + other}:{limit}", build, mode
        if family == "calls" and not limits:
            for number in range(1, 40):
                yield f"calls:{seed}:count=1,first={number}", build, mode

    found = True
    while found and tries > 0:
        found = False
        for candidate in better():
            tries -= 1
            told = difference(fathom, *candidate, before)
            if told and kind_of(told) == kind:
                best, text, found = candidate, told, True
                break
            if tries <= 0:
                break
    return best, text


def reduce_text(fathom, name, build, mode, directory, seconds=600):
    """Lets cvise make the program's text smaller, as long as it is right in itself and the difference stays. Returns its path."""
    program = programs.make(name)
    suffix = ".c" if program.language == "c" else ".cpp"
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name.replace(':', '-').replace(',', '-').replace('=', '')}{suffix}"
    compiler = {"c": "gcc", "c++": "g++"}[program.language]
    flags = shlex.join(program.flags)
    expanded = subprocess.run([compiler, "-E", "-P", *program.flags, *builds.FLAGS["counted"] * ("counted" in build.flags), "-x", program.language, "-"],
                              input=program.text, capture_output=True, text=True, check=True)
    path.write_text(expanded.stdout)
    if not shutil.which("cvise"):
        return path
    # A text that reads what nobody wrote may do anything.
    test = directory / "test.sh"
    test.write_text(f"""#!/bin/sh
{compiler} {flags} -w -O1 -fsanitize=address,undefined -fno-sanitize-recover=all {path.name} -o checked 2>log || exit 1
{compiler} {flags} -O2 -c -Werror=uninitialized -Werror=return-type -Werror=implicit-function-declaration {path.name} -o /dev/null 2>>log || exit 1
ASAN_OPTIONS=detect_leaks=0 timeout 20 ./checked 1 >out 2>&1 || exit 1
exec {sys.executable} {TOOL} --fathom {fathom} --still '{kind_of(difference(fathom, name, build, mode) or "")}' --case file:$PWD/{path.name} {build.name} {mode.name} >log 2>&1
""")
    test.chmod(0o755)
    with tempfile.TemporaryDirectory(prefix="differential-cvise.") as work:
        subprocess.run(["cvise", "--n", "1", "--timeout", "60", "--no-cache", str(test), path.name], cwd=directory, timeout=None,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(builds.environment(), TMPDIR=work))
    return path
