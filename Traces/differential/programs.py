"""The programs of Tools/differential: where their text comes from, and how they are run.

A program is written as KIND:SEED, or KIND:SEED:LIMIT=N,... for a smaller one; file:PATH is a text that was made smaller.
"""

import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CSMITH_INCLUDES = "/usr/include/csmith"
SIGNATURE = re.compile(r"^(static .*?)\bfunc_(\d+)\((.*)\)$")
SCALAR = re.compile(r"^(?:const |volatile |register )*(u?int(?:8|16|32|64)_t)\s+(\w+)$")


class Unfit(Exception):
    """This seed makes no program that is worth running."""


class Program:
    """A text, its language (c or c++), flags to compile it, arguments to run it with, and what it can be asked."""

    def __init__(self, name, text, language, flags=(), arguments=(), has_values=True):
        self.name, self.text, self.language = name, text, language
        self.flags, self.arguments, self.has_values = list(flags), list(arguments), has_values
        # The numbers of those that count their calls.
        self.counted = {int(number) for number in re.findall(r"COUNT_CALL\((\d+)\)", text)}
        self.has_threads = "pthread_create" in text or "run_threads(" in text


def limits_of(text):
    limits = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        limits[name] = value
    return limits


def noted(text):
    """A program of csmith's whose functions note their calls, arguments and results."""
    lines, function, out = text.split("\n"), None, []
    for index, line in enumerate(lines):
        signature = SIGNATURE.match(line)
        if signature and index + 1 < len(lines) and lines[index + 1].startswith("{"):
            result = re.fullmatch(r"static (?:inline )?(?:const )?(u?int(?:8|16|32|64)_t)\s*", signature[1])
            function = (signature[2], result and result[1], signature[3])
        if function and line.startswith("{"):
            number, _, parameters = function
            scalars = [SCALAR.match(parameter.strip()) for parameter in parameters.split(",")]
            notes = "".join(f" VALUE({scalar[2]});" for scalar in scalars if scalar)
            line = "{ COUNT_CALL(%s); BEGIN_VALUES(%s);%s END_VALUES;%s" % (number, number, notes, line[1:])
        elif function and function[1]:
            line = re.sub(r"^(\s*)return (.*);$", rf"\1return RESULT({function[1]}, {function[0]}, (\2));", line)
        if line.startswith("}"):
            function = None
        out.append(line)
    return "\n".join(out)


def csmith(seed, limits, is_cpp):
    """The first program of some length that csmith makes of the seed and what follows it."""
    options = [f"--{name}" + (f" {value}" if value else "") for name, value in limits.items()]
    for attempt in range(10):
        command = ["csmith", "--quiet", "--seed", str(seed * 1000 + attempt), *" ".join(options).split()]
        if is_cpp:
            command += ["--lang-cpp", "--cpp11"]
        made = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if made.returncode == 0 and (limits or made.stdout.count("\n") > 300):
            break
    else:
        raise Unfit(f"csmith makes nothing of {seed}")
    # Attaching needs a program that lasts: its work is done again and again by children, which begin alike.
    text = made.stdout[: made.stdout.find("/************************ statistics")]
    text = text.replace("int main (", "int differential_main (")
    text = '#include "counted.h"\n' + noted(text) + '\n#include "rounds.h"\n'
    return text, "c++" if is_cpp else "c"


def make(name):
    kind, _, rest = name.partition(":")
    if kind == "file":
        path = pathlib.Path(rest)
        language = "c" if path.suffix == ".c" else "c++"
        return Program(name, path.read_text(), language, [f"-I{HERE}", f"-I{CSMITH_INCLUDES}"], ["1"])
    seed, _, limited = rest.partition(":")
    seed, limits = int(seed), limits_of(limited)
    if kind in ("csmith", "csmith++"):
        text, language = csmith(seed, limits, kind == "csmith++")
        standard = ["-std=gnu++17", "-Wno-narrowing"] if language == "c++" else []
        return Program(name, text, language, [*standard, f"-I{HERE}", f"-I{CSMITH_INCLUDES}"], ["1"])
    if kind == "c++":
        made = subprocess.run([sys.executable, HERE / "generate_cpp.py", str(seed), *(f"{k}={v}" for k, v in limits.items())],
                              capture_output=True, text=True, check=True)
        return Program(name, made.stdout, "c++", ["-std=gnu++20", "-pthread", f"-I{HERE}"], ["1"])
    if kind == "calls":
        count = limits.get("count", str(random.Random(seed).choice([5, 20, 60])))
        text = '#include "calls.h"\n'
        return Program(name, text, "c", ["-pthread", f"-I{HERE}"], [str(seed), count, limits.get("first", "0")], has_values=False)
    raise SystemExit(f"differential: there is no kind of program '{kind}'")


KINDS = ["csmith", "c++", "csmith++", "c++", "csmith", "calls"]
# What a smaller program of a kind is, from the smallest on.
SMALLER = {
    "csmith": ["max-funcs=1,max-block-size=1,max-block-depth=1", "max-funcs=2,max-block-size=2,max-block-depth=2", "max-funcs=4,max-block-depth=3"],
    "c++": ["functions=4", "functions=8", "functions=14"],
}
SMALLER["csmith++"] = SMALLER["csmith"]
