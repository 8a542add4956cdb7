"""Compares what a command printed with what a page shows: names, counts and words have to be equal, and times, sizes, shares, ids,
addresses and dates may differ."""

import platform
import re

NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
# In this order: what an earlier one has replaced, a later one does not see.
REPLACED = [
    (re.compile(r"0x[0-9a-f]+"), "ADDRESS"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?: ?UTC|Z)?)?"), "DATE"),
    (re.compile(rf"[+±]?{NUMBER} (?:ns|us|ms|s|min|h)\b"), "TIME"),
    (re.compile(rf"[+±]?{NUMBER} (?:B|[KMGT]i?B)\b"), "SIZE"),
    (re.compile(rf"[+±]?{NUMBER} ?%"), "SHARE"),
    (re.compile(r"\b(process|thread|pid|id) \d+"), r"\1 ID"),
    # Where a table names a thread or process: behind a time, one space before the name.
    (re.compile(r"(?<=TIME)  +\d{2,} (?=\w)"), "  ID "),
    (re.compile(r"\b\d+ (?=\S+ · )"), "ID "),
    (re.compile(r"[█▉▊▋▌▍▎▏░▒▓]+"), ""),
    # A mark of a function that is too short to be timed well, in place of a space.
    (re.compile(r"≈(?=\w)"), " "),
]
PLACE = re.compile(r"TIME|SIZE|SHARE|ADDRESS|DATE|ID|\bN\b")
SHORT_CALLS = "≈ less than"
ELLIPSIS = "..."


def normal(line, numbers_vary=False):
    """A line without what may differ. How far a name is indented behind the last column of numbers is kept, because it shows who
    calls whom."""
    for pattern, replacement in REPLACED:
        line = pattern.sub(replacement, line)
    if numbers_vary:
        line = re.sub(rf"[+±]?{NUMBER}", "N", line)
    places = list(PLACE.finditer(line))
    end = places[-1].end() if places else len(line)
    return " ".join(line[:end].split()) + line[end:].rstrip()


def lines(text):
    """What a terminal shows of this text, without empty lines at either end."""
    # Pages show no machine's own name.
    text = re.sub(rf"(?<=on ){re.escape(platform.node())}\b", "host", text)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\a]*\a", "", text.replace("\r\n", "\n"))
    # What a line says last stands there.
    shown = [line.rsplit("\r", 1)[-1].rstrip() for line in text.split("\n")]
    while shown and not shown[-1]:
        shown.pop()
    while shown and not shown[0]:
        shown.pop(0)
    return shown


def differs(shown, printed, numbers_vary=False):
    """The first line that differs, as it is shown and as it was printed, or None."""
    shown, printed = [[line for line in part if not line.startswith(SHORT_CALLS)] for part in (shown, printed)]
    first, *rest = parts(shown)
    places = [(line, at) for at, line in enumerate(first)]
    at = len(first)
    for part in rest[:-1]:
        # A part between two gaps is wherever its lines come first.
        found = next((start for start in range(at, len(printed)) if same(part, printed[start:], numbers_vary)), None)
        if found is None:
            return part[0], f"no such line with those that follow it, from line {at + 1} on"
        at = found + len(part)
    if rest:
        if len(printed) < at + len(rest[-1]):
            return ELLIPSIS, f"only {len(printed)} lines"
        at = len(printed) - len(rest[-1])
        places += [(line, at + index) for index, line in enumerate(rest[-1])]
    else:
        places += [(None, index) for index in range(len(first), len(printed))]
    for line, index in places:
        found = printed[index] if index < len(printed) else None
        if line is None or found is None or normal(line, numbers_vary) != normal(found, numbers_vary):
            return line, found
    return None


def same(shown, printed, numbers_vary):
    """Whether what was printed begins with these lines."""
    return len(printed) >= len(shown) and all(
        normal(line, numbers_vary) == normal(other, numbers_vary) for line, other in zip(shown, printed))


def parts(shown):
    """The lines between those that stand for lines that the page does not show."""
    found = [[]]
    for line in shown:
        if line.strip() == ELLIPSIS:
            found.append([])
        else:
            found[-1].append(line)
    return found


def cut(shown, printed):
    """What is to be shown in place of `shown`: as many lines before and behind its gap as it has. With several gaps, nothing tells
    which lines are to be shown, so it stays."""
    pieces = parts(shown)
    if len(pieces) > 2:
        return shown
    if len(pieces) < 2 or len(printed) <= len(shown):
        return printed
    before, after = len(pieces[0]), len(pieces[1])
    return printed[:before] + [ELLIPSIS] + printed[len(printed) - after :]
