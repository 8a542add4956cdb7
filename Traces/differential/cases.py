"""A case of Tools/differential: a program in a build, recorded in modes, and compared in all that can be compared."""

import pathlib
import shutil
import tempfile
import time

import builds
import checks
import modes
import programs
import runs


class Result:
    """Of one mode: 'same', 'refused' (and why), 'different' (and how), 'unfit' (the program itself does not do)."""

    def __init__(self, kind, text="", calls=0, values=0):
        self.kind, self.text, self.calls, self.values = kind, text, calls, values


class Case:
    """The directory of one program in one build."""

    def __init__(self, fathom, program, build):
        self.fathom, self.program, self.build, self.is_counted = fathom, program, build, "counted" in build.flags
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="differential."))
        # Under the same name, since a program knows it.
        self.binary, self.plain_binary = self.place / "program", self.place / "plain" / "program"
        self.plain_binary.parent.mkdir()
        self.plain = {}
        # What the first mode that records every call said, as (mode, functions -> calls), and its session.
        self.table = self.whole = None

    def __enter__(self):
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.place, ignore_errors=True)

    def make(self):
        source = self.source = self.place / ("program.c" if self.program.language == "c" else "program.cpp")
        source.write_text(self.program.text)
        self.build.make(self.fathom, source, self.plain_binary, self.binary, self.program.language, self.program.flags)
        # The same without Fathom, and with what it put in, while nothing records.
        arguments = self.program.arguments
        begin = time.monotonic()
        try:
            self.plain[()], again = (runs.run([self.plain_binary, *arguments], bound=20) for _ in range(2))
        except runs.Hangs:
            raise programs.Unfit("it does not end") from None
        # Where one of csmith's ends by a signal, its compiler was wrong, and what it does is a matter of luck.
        if self.program.name.startswith("csmith") and self.plain[()].status < 0:
            raise programs.Unfit("it ends by a signal")
        self.duration = time.monotonic() - begin
        if self.duration > 15 or again.difference(self.plain[()]):
            raise programs.Unfit("it does not do the same twice")
        difference = self.changes(self.binary)
        if not difference:
            return
        if self.build.kind in ("hooks", "after"):
            bare = self.place / "bare" / "program"
            bare.parent.mkdir()
            self.build.make_bare(source, bare, self.program.language, self.program.flags)
            if self.changes(bare):
                raise programs.Unfit("its compiler makes another program of it where hooks that do nothing are called")
        raise checks.Different("not recorded: " + difference)

    def changes(self, binary):
        """What a build that is not recorded does otherwise. None: nothing."""
        try:
            return runs.run([binary, *self.program.arguments]).difference(self.plain[()])
        except runs.Hangs as error:
            return str(error)

    def lasting(self):
        """Arguments with which the program lasts for a while, and what it does then."""
        if "lasting" not in self.plain:
            if self.program.name.startswith("calls"):
                seed, count, *rest = self.program.arguments
                arguments = [seed, str(max(int(count), 25)), *rest]
            else:
                rounds = int(min(2000, max(20, 20 * runs.LASTING / max(0.01, self.time_of(20)))))
                arguments = self.rounds(rounds)
            self.plain["lasting"] = (arguments, runs.run([self.plain_binary, *arguments]))
        return self.plain["lasting"]

    def rounds(self, number):
        return [str(number)] if self.program.name.startswith("c++") else ["1", str(number)]

    def time_of(self, rounds):
        begin = time.monotonic()
        runs.run([self.plain_binary, *self.rounds(rounds)])
        return time.monotonic() - begin

    # ---- one mode

    def check(self, mode):
        runs.clear(self.place)
        try:
            return self.check_beside(mode) if mode.base in modes.BESIDE else self.check_recorded(mode)
        except (runs.Hangs, checks.Different) as error:
            return Result("different", str(error))

    def check_beside(self, mode):
        arguments, expected = self.lasting()
        outcome, sessions, told = runs.beside(self.fathom, mode.base, mode.arguments(), [self.binary, *arguments], self.place)
        refusal = self.refusal(outcome.without_fathom(), told if not sessions else [])
        if refusal and outcome.difference(expected) is None or refusal and outcome.status in (64, 125, 126):
            return Result("refused", refusal)
        difference = outcome.difference(expected)
        if difference:
            raise checks.Different(difference)
        calls = sum(checks.check_damage(self.fathom, session)["calls"] for session in sessions)
        return Result("same", calls=calls)

    @staticmethod
    def refusal(outcome, told):
        lines = [line for line in outcome.told + told if line.startswith("fathom: error:")]
        return lines[0] if lines else None

    def check_recorded(self, mode):
        session, counts, values = (self.place / name for name in ("s.fathom", "counts", "values"))
        for path in counts, values:
            path.unlink(missing_ok=True)
        extra = {"COUNTS": str(counts), "VALUES": str(values)} if self.is_counted else {}
        outcome = runs.run([self.fathom, "record", "-q", *mode.arguments(), "-o", session, "--", self.binary, *self.program.arguments],
                           extra=extra, bound=runs.BOUND + 30 * self.duration).without_fathom()
        refusal = self.refusal(outcome, [])
        if refusal and outcome.status in (64, 125, 126):
            return Result("refused", refusal)
        difference = outcome.difference(self.plain[()])
        if difference:
            raise checks.Different(difference)
        if mode.base == "flight" and not session.exists():
            return Result("same")
        told = checks.check_damage(self.fathom, session)
        result = Result("same", calls=told["calls"])
        if mode.base in ("stack", "first-calls", "flight", "paused") or not self.program.has_values:
            return result
        if mode.base in ("startup", "library") and self.build.kind == "plain":
            return result
        if self.is_counted and {"args", "returns"} & set(mode.options) and mode.base == "trace":
            result.values = checks.compare_values(self.fathom, session, values)
        self.check_numbers(mode, session, counts, told)
        return result

    def check_numbers(self, mode, session, counts, told):
        if not mode.counts_functions and mode.as_read is None and "budget" not in mode.options:
            return
        if told["lost_calls"] or told["unwritten_calls"]:
            raise checks.Different(f"{told['lost_calls']} calls lost, {told['unwritten_calls']} not written")
        table = checks.functions(self.fathom, session)
        truth = checks.counts_of(counts) if self.is_counted else None
        if truth is not None:
            exact = self.build.kind == "hooks" or not self.build.inlines
            if "any" in mode.options and exact:
                exact = checks.all_have_detours(self.fathom, self.binary)
            checks.compare_counts(table, truth, self.program.counted, exact, is_part=not mode.counts_functions)
        if mode.counts_all:
            if self.table is None:
                self.table = (mode.name, table)
                if self.build.kind == "plain":
                    self.compare_with_sleds(session)
            checks.compare_tables(self.table[1], table, (self.table[0], mode.name))
        if mode.base in ("trace", "profile") and mode.counts_all and not self.program.has_threads:
            if self.whole is None:
                self.whole = session.rename(self.place / "whole")
            else:
                checks.compare_paths(self.fathom, self.whole, session)
        if mode.as_read is not None:
            everything = self.place / "everything"
            if not everything.exists():
                without_hooks = modes.OPTIONS["any"] if "any" in mode.options else []
                runs.run([self.fathom, "record", "-q", *without_hooks, "-o", everything, "--", self.binary, *self.program.arguments])
            checks.compare_filtered(self.fathom, everything, session, mode.as_read)

    def compare_with_sleds(self, session):
        """The calls of a program without hooks with those of the same program with sleds, where there is one."""
        place = self.place / "sleds"
        place.mkdir()
        try:
            self.build.as_dormant().make(self.fathom, self.source, place / "plain", place / "program", self.program.language, self.program.flags)
        except (builds.Refused, builds.FailedByFathom):
            return
        if checks.code_symbols(self.plain_binary) != checks.code_symbols(place / "program"):
            return
        recorded = place / "s"
        runs.run([self.fathom, "record", "-q", "-o", recorded, "--", place / "program", *self.program.arguments])
        has_all = checks.all_have_detours(self.fathom, self.binary) and not self.program.has_threads
        checks.compare_with_sleds(self.fathom, self.binary, session, recorded, has_all)
