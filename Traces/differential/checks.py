"""What the numbers of Tools/differential are compared with: what the program notes, what other modes show, what reading selects."""

import collections
import ctypes
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import struct
import subprocess

C_LIBRARY = ctypes.CDLL(None)
# What clang's sanitizers do, which lie in the program, depends on the machine's addresses and threads.
SANITIZER = re.compile(r"__(sanitizer|asan|lsan|ubsan|interception)\b|interceptor|__asan_|__ubsan_|__sanitizer_")
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "Tools"
NUMBER = re.compile(r"(?:^|[ :&*]|__regcall3__)(?:func_|f)(\d+)(?:\.(?:constprop|isra|lto_priv|part|cold)[.\d]*)*(?:$|\()")


def tool(name):
    """A tool that is written in Python, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(TOOLS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Different(Exception):
    pass


def number_of(name):
    """Of a function that counts its calls. Thunks are code of their own, and what is split off is not a call."""
    if "thunk to " in name or ".part" in name or ".cold" in name or "[clone" in name or "keyed to" in name:
        return None
    found = NUMBER.search(name)
    return found and int(found[1])


def asked(fathom, *words, may_be_empty=False):
    result = subprocess.run([fathom, *words], capture_output=True, text=True, timeout=300)
    # 1 is an empty answer.
    if result.returncode not in ((0, 1) if may_be_empty else (0,)):
        raise Different(f"fathom {words[0]} ends with {result.returncode}: {result.stderr.strip()[:300]}")
    return result.stdout


def check_damage(fathom, session):
    told = json.loads(asked(fathom, "info", "--check", "--format", "json", session))
    if told["damage"]:
        raise Different(f"damage: {told['damage'][:2]}")
    return told


def functions(fathom, session):
    """name -> calls of the program's functions. (What waits in the C library shows as a call where that is recorded.)"""
    table = collections.Counter()
    text = asked(fathom, "report", "--format", "json", session, may_be_empty=True)
    for row in json.loads(text)["functions"] if text.strip() else []:
        if not hasattr(C_LIBRARY, row["name"]) and not SANITIZER.search(row["name"]):
            table[row["name"]] += row["calls"]
    return table


def counts_of(path):
    if not path.exists():
        return None
    data = path.read_bytes()
    return {number: calls for number, (calls,) in enumerate(struct.iter_unpack("<Q", data)) if calls}


def compare_counts(table, truth, counted, is_exact, is_part):
    """What a session says of the functions that count their own calls; it may be less where something was inlined or left out."""
    found = collections.Counter()
    for name, calls in table.items():
        number = number_of(name)
        if number in counted:
            found[number] += calls
    for number in sorted(counted):
        true, got = truth.get(number, 0), found[number]
        if got > true or (is_exact and not is_part and got < true):
            raise Different(f"function {number}: {got} calls, in truth {true}")
    return sum(found.values())


def all_have_detours(fathom, binary):
    """Whether calls of all of the program's functions can be told of without hooks."""
    text = subprocess.run([fathom, "doctor", "--format", "json", binary], capture_output=True, text=True, timeout=300).stdout
    found = re.search("([0-9,]+) of ([0-9,]+) functions can be recorded without a rebuild", text)
    return found is not None and found[1] == found[2]


def code_symbols(binary):
    lines = subprocess.run(["nm", "--defined-only", binary], capture_output=True, text=True, check=True, timeout=300).stdout.splitlines()
    return {name for _, kind, name in map(str.split, lines) if kind in "tTwW" and not name.startswith("fathom_")}


def calls_of_paths(fathom, session):
    """Call path, as a tuple of names -> calls."""
    text = asked(fathom, "graph", "--format", "json", "--raw-names", session, may_be_empty=True)
    paths, work = collections.Counter(), [((), path) for path in json.loads(text)["paths"]] if text.strip() else []
    while work:
        callers, path = work.pop()
        callers = (*callers, path["name"])
        paths[callers] += path["calls"]
        work += [(callers, callee) for callee in path["children"]]
    return paths


def overloads(binary):
    """Names that several functions have, with other parameters."""
    text = subprocess.run(["nm", "--demangle", "--defined-only", binary], capture_output=True, text=True, check=True, timeout=300).stdout
    functions = {tuple(line.split(" ", 2)) for line in text.splitlines()}
    count = collections.Counter(name for _, name in {(address, name.split("(")[0]) for address, kind, name in functions if kind in "tTwW"})
    return {name for name, number in count.items() if number > 1}


def compare_with_sleds(fathom, binary, session, by_sleds, has_all):
    """Calls by detours are those that sleds tell of. Paths are the same where all functions have detours: one without goes on below
    the function that jumps to it. Some functions have no sleds, and what these call counts as their callers'."""
    paths = [calls_of_paths(fathom, recorded) for recorded in (session, by_sleds)]
    tables = [collections.Counter() for _ in paths]
    for table, calls in zip(tables, paths):
        for path, number in calls.items():
            table[path[-1]] += number
    # Clang makes functions of what is cold, which have no detours.
    has_all = has_all and not any(".cold" in name for name in tables[1])
    # Of functions with one name, some may have no detour.
    left = set() if has_all else overloads(binary)
    known = {name for name in tables[1] if has_all or tables[0][name] and name not in left}
    compare_tables(*({name: table[name] for name in known} for table in tables), ("detours", "sleds"))
    if has_all:
        shown = [collections.Counter() for _ in paths]
        for sums, calls in zip(shown, paths):
            for path, number in calls.items():
                if path[-1] in known:
                    sums[tuple(name for name in path if name in known)] += number
        compare_tables(*shown, ("detours", "sleds"))


def compare_tables(first, second, names):
    for name in sorted(first.keys() | second.keys()):
        if first[name] != second[name]:
            raise Different(f"{name}: {first[name]} calls with {names[0]}, {second[name]} with {names[1]}")


def compare_paths(fathom, first, second):
    compare = tool("compare-paths")
    sums = []
    for session in first, second:
        read, names, _ = compare.paths_of(fathom, session)
        sums.append(compare.by_name(read, names))
    for path in sorted(sums[0].keys() | sums[1].keys()):
        one, other = (table.get(path) for table in sums)
        if one != other and not SANITIZER.search(path):
            raise Different(f"path {path}: {one} calls in one mode, {other} in the other")


def compare_filtered(fathom, whole, part, filters):
    torture = tool("torture")
    expected, found = torture.tree_of(fathom, whole, filters), torture.tree_of(fathom, part, [])
    if expected != found:
        lines = [sum(tree, []) for tree in (expected, found)]
        index = next((i for i, (a, b) in enumerate(zip(*lines)) if a != b), min(map(len, lines)))
        raise Different(f"{' '.join(filters)}: {len(lines[1])} calls, of all that are recorded {len(lines[0])}, other from {index} on: "
                        f"{lines[0][index : index + 1]} and {lines[1][index : index + 1]}")


def values_of(path):
    """(kind, number) -> what the first thread noted, call by call."""
    noted = collections.defaultdict(list)
    for line in path.read_text(errors="replace").splitlines() if path.exists() else []:
        head, *values = line.split("\t")
        noted[head[0], int(head[1:])].append(dict(value.split("=", 1) for value in values))
    return noted


def shown_by(fathom, session):
    """The same as it was recorded of the first thread; what is not shown is None."""
    shown, stack = collections.defaultdict(list), []
    result, tid = None, None
    for line in asked(fathom, "dump", session, "--format", "jsonl", may_be_empty=True).splitlines():
        line = json.loads(line)
        kind = line.get("kind")
        if tid is None and "tid" in line and line["tid"] == line["pid"]:
            tid = line["tid"]
        if line.get("tid") != tid:
            continue
        if kind == "enter":
            number = number_of(line["function"])
            entry = [None]
            stack.append(entry)
            if number is not None:
                shown["f", number].append(entry)
        elif kind == "args" and stack:
            stack[-1][0] = line["args"]
        elif kind == "returned":
            result = {"result": line["returned"]}  # of the call that ends next
        elif kind in ("exit", "unwound") and stack:
            stack.pop()
            number = number_of(line["function"])
            if number is not None and kind == "exit":
                shown["r", number].append([result])
            result = None
    return shown


def compare_values(fathom, session, path):
    """How many values were compared. A value is the right one, or it is said that there is none."""
    noted, shown, values = values_of(path), shown_by(fathom, session), 0
    for key, truth in noted.items():
        found = shown.get(key, [])
        # The program notes only so many, and what was inlined is not seen.
        if len(found) != len(truth):
            continue
        for index, (true, entry) in enumerate(zip(truth, found)):
            for name, value in true.items():
                got = (entry[0] or {}).get(name)
                if got is None or got.startswith("<"):
                    continue
                values += 1
                # What is noted is as long as a register, with a sign.
                if got != value and not (got.isdigit() and int(got) == int(value) % 2**64):
                    what = "argument" if key[0] == "f" else "result of"
                    raise Different(f"{what} {name} of function {key[1]}, call {index}: {got}, in truth {value}")
    return values
