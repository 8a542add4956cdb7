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
    dots = gap(shown)
    if dots is not None:
        before, after = shown[:dots], shown[dots + 1 :]
        if len(printed) < len(before) + len(after):
            return "...", f"only {len(printed)} lines"
        shown = before + after
        printed = printed[: len(before)] + printed[len(printed) - len(after) :]
    for index in range(max(len(shown), len(printed))):
        pair = [part[index] if index < len(part) else None for part in (shown, printed)]
        if None in pair or normal(pair[0], numbers_vary) != normal(pair[1], numbers_vary):
            return pair[0], pair[1]
    return None


def gap(shown):
    """Where a line `...` stands for lines that the page does not show."""
    dots = [index for index, line in enumerate(shown) if line.strip() == ELLIPSIS]
    return dots[0] if dots else None


def cut(shown, printed):
    """What is to be shown in place of `shown`: as many lines before and behind its gap as it has."""
    dots = gap(shown)
    if dots is None or len(printed) <= len(shown):
        return printed
    after = len(shown) - dots - 1
    return printed[:dots] + [shown[dots]] + printed[len(printed) - after :]
