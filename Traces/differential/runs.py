"""How Tools/differential runs a program: by itself, recorded, and with Fathom beside it."""

import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import builds

BOUND = 60  # seconds; what takes longer hangs
LASTING = 1.2  # seconds that a program lasts that Fathom comes to


class Hangs(Exception):
    pass


class Outcome:
    """What can be seen of a run from outside."""

    def __init__(self, status, stdout, stderr, files):
        self.status, self.stdout, self.stderr, self.files = status, stdout, stderr, files
        self.told = []

    def without_fathom(self):
        """What Fathom itself says goes to `told`."""
        lines = self.stderr.splitlines(keepends=True)
        self.told = [line.decode(errors="replace").strip() for line in lines if line.startswith(b"fathom: ")]
        self.stderr = b"".join(line for line in lines if not line.startswith(b"fathom: "))
        return self

    def difference(self, other):
        """In one line, how this differs from what it should be."""
        if self.status != other.status:
            return f"status {self.status}, without {other.status}: {self.told or ''} {self.stderr[-200:]!r}"
        for name in "stdout", "stderr":
            mine, others = getattr(self, name).splitlines(), getattr(other, name).splitlines()
            for index in range(max(len(mine), len(others))):
                pair = [lines[index].decode(errors="replace")[:160] if index < len(lines) else "nothing" for lines in (mine, others)]
                if pair[0] != pair[1]:
                    return f"{name} line {index + 1}: '{pair[0]}', without '{pair[1]}'"
        for name in sorted(self.files.keys() | other.files.keys()):
            if self.files.get(name) != other.files.get(name):
                return f"file {name} differs"
        return None


def files_of(directory):
    return {str(path.relative_to(directory)): hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() else "-"
            for path in sorted(directory.rglob("*"))}


def finish(process, directory, bound):
    try:
        stdout, stderr = process.communicate(timeout=bound)
    except subprocess.TimeoutExpired:
        state = where_it_is(process.pid)
        end_group(process)
        stdout, stderr = process.communicate()
        raise Hangs(f"hangs for {bound:.0f} s{state}; it said last: {(stdout + stderr)[-150:]!r}") from None
    finally:
        end_group(process)
    # Sanitizers say in front of their lines which process they are in.
    stderr = re.sub(rb"^==\d+==", b"==1==", stderr, flags=re.MULTILINE)
    stderr = re.sub(rb"(?<=runtime error: )(.*? address) 0x[0-9a-f]+", rb"\1", stderr)
    return Outcome(process.returncode, stdout, stderr, files_of(directory))


def where_it_is(group):
    """What the processes of a group wait in."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            if int(words[2]) == group:
                found.append(f"{(entry / 'comm').read_text().strip()} {words[0]} {(entry / 'wchan').read_text()}")
        except (OSError, IndexError, ValueError):
            pass
    return f" ({', '.join(found[:6])})" if found else ""


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def start(command, directory, extra=None):
    return subprocess.Popen(command, cwd=directory, env=dict(builds.environment(), **(extra or {})), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def run(command, extra=None, bound=BOUND):
    with tempfile.TemporaryDirectory(prefix="differential-run.") as directory:
        directory = pathlib.Path(directory)
        return finish(start([str(word) for word in command], directory, extra), directory, bound)


def program_of(recorder):
    """The program that `fathom record` or `arm` runs, as soon as it is there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            children = pathlib.Path(f"/proc/{recorder.pid}/task/{recorder.pid}/children").read_text().split()
            for child in children:
                if "fathom" not in os.path.basename(os.readlink(f"/proc/{child}/exe")):
                    return int(child)
        except OSError:
            return None
        if recorder.poll() is not None:
            return None
        time.sleep(0.005)
    return None


def beside(fathom, base, options, command, place, bound=BOUND):
    """Runs a program, and comes to it again and again. Returns its outcome, the sessions, and what Fathom said."""
    words = [str(word) for word in command]
    session = place / "whole.fathom"
    under = base.startswith(("arm", "record-", "start-"))
    if base.startswith("arm"):
        words = [fathom, "arm", "-q", "--", *words]
    elif under:
        words = [fathom, "record", "-q", *options, "-o", str(session), "--", *words]
    told, sessions = [], []
    with tempfile.TemporaryDirectory(prefix="differential-run.") as directory:
        process = start(words, directory := pathlib.Path(directory))
        deadline = time.monotonic() + bound
        pid = program_of(process) if under else process.pid
        number = 0
        while pid and process.poll() is None and time.monotonic() < deadline and base != "arm":
            number += 1
            part = place / f"part{number}.fathom"
            if base == "start-stop":
                action = [fathom, "ctl", str(session), "stop" if number % 2 else "start"]
            elif "sample" in base:
                action = [fathom, "sample", "-q", "--for", "30ms", "--interval", "1ms", "-o", str(part), str(pid)]
            else:
                kind = base.rpartition("-")[2]
                mode = ["--mode", kind] if kind in ("profile", "flight") else []
                action = [fathom, "record", "-q", *mode, *options, "--attach", str(pid), "--for", "20ms", "-o", str(part)]
            try:
                said = subprocess.run(action, cwd=place, capture_output=True, text=True, timeout=bound)
            except subprocess.TimeoutExpired:
                end_group(process)
                process.communicate()
                raise Hangs(f"'fathom {' '.join(action[1:3])}' hangs") from None
            ended = process.poll() is not None
            if part.exists() and said.returncode == 0:
                sessions.append(part)
            elif said.returncode != 0 and not ended:
                told += said.stderr.splitlines()[:1]
                if said.returncode < 0:
                    raise Hangs(f"'fathom {' '.join(action[1:3])}' ends by signal {-said.returncode}")
        outcome = finish(process, directory, max(1, deadline - time.monotonic()))
    if session.exists():
        sessions.append(session)
    return outcome, sessions, told


def clear(place):
    for session in place.glob("*.fathom"):
        shutil.rmtree(session)
