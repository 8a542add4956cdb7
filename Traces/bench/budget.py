"""What a recording with --budget keeps of the time's call paths."""

import collections
import csv
import io
import subprocess


def paths(fathom, session):
    """path -> total time; function -> calls"""
    shown = subprocess.run([fathom, "report", "--no-cache", session, "--by", "path", "--format", "csv"], capture_output=True, text=True, check=True)
    totals, calls = {}, collections.Counter()
    for row in csv.DictReader(io.StringIO(shown.stdout)):
        totals[row["name"]] = float(row["total_ns"])
        calls[row["name"].rpartition(";")[2]] += int(row["calls"])
    return totals, calls


def kept(fathom, whole, budget):
    """In percent. A call path of `whole`, a recording of everything, counts as much as its total time, once for each function on it. It
    is kept if the other recording has it; functions that were closed, of whose calls that one has less than half, do not count on the
    way to the last one, because they may have been closed before or after."""
    (totals, calls), (there, counted) = paths(fathom, whole), paths(fathom, budget)
    closed = {function for function, number in calls.items() if counted[function] < number / 2}

    def without_closed(path):
        *callers, last = path.split(";")
        return (*(caller for caller in callers if caller not in closed), last)

    found = set(map(without_closed, there))
    total = same = 0
    for path, spent in totals.items():
        *callers, last = path.split(";")
        if last not in callers:
            total += spent
            same += spent if without_closed(path) in found else 0
    return same / total * 100
