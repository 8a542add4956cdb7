"""A redis server, built from Debian's sources, that redis-benchmark asks."""

import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(HERE / "Traces" / "differential"))

import builds  # noqa: E402
import real  # noqa: E402

REQUESTS = 60000  # of each kind
KINDS = "set,get,lpush,lrange_100,zadd"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Connection:
    """Asks one thing after the other."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.answers = self.socket.makefile("rb")

    def ask(self, *words):
        """An answer of one line, or one text."""
        words = [str(word).encode() for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        line = self.answers.readline().rstrip()
        if line[:1] != b"$":
            return line.decode()
        return self.answers.read(int(line[1:]) + 2)[:-2].decode()


class Server:
    def __init__(self, binary, prefix, directory):
        self.binary, self.port = binary, free_port()
        self.process = subprocess.Popen([*prefix, binary, "--port", str(self.port), "--save", "", "--dir", directory],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for _ in range(400):
            try:
                self.connection = Connection(self.port)
                break
            except OSError:
                time.sleep(0.05)
        self.pid = int(re.search(r"process_id:(\d+)", self.connection.ask("INFO", "server"))[1])

    def processor_ns(self):
        return sum(int(task.read_text().split()[0]) for task in pathlib.Path(f"/proc/{self.pid}/task").glob("*/schedstat"))

    def load(self, requests=REQUESTS, kinds=KINDS):
        """Nanoseconds of the server for each request."""
        before = self.processor_ns()
        asked = subprocess.run([self.binary.parent / "redis-benchmark", "-p", str(self.port), "-n", str(requests), "-c", "20", "-P", "8", "-q",
                                "-t", kinds], capture_output=True, text=True)
        if asked.returncode or "rror" in asked.stdout + asked.stderr:
            raise SystemExit(f"bench: redis-benchmark: {asked.stdout}{asked.stderr}")
        return (self.processor_ns() - before) / (requests * (kinds.count(",") + 1))

    def text(self):
        """The code of the program as it is in its memory."""
        parts = []
        with open(f"/proc/{self.pid}/mem", "rb", buffering=0) as memory:
            for line in pathlib.Path(f"/proc/{self.pid}/maps").read_text().splitlines():
                words = line.split()
                if "x" in words[1] and words[-1] == str(self.binary):
                    begin, end = (int(word, 16) for word in words[0].split("-"))
                    memory.seek(begin)
                    while begin < end:
                        parts.append(memory.read(min(end - begin, 1 << 20)))
                        begin += len(parts[-1])
        return b"".join(parts)

    def ask_to_end(self):
        self.connection.socket.sendall(b"*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n")

    def end(self):
        self.ask_to_end()
        return self.process.communicate(timeout=120)[1]


def made(fathom, name, place):
    """The server of a build, made if it is not there."""
    build, directory = builds.Build(name), place / name
    binary = directory / "src" / "redis-server"
    if not binary.exists():
        source = place / "src" / "redis"
        if not source.exists():
            subprocess.run([HERE / "Tools" / "fetch-source", place / "src", "redis"], check=True)
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(source, directory, symlinks=True)
        how = builds.KINDS[build.kind]
        result = real.script(real.PROGRAMS["redis"].build, directory, [] if how is None else [fathom, "build", *how, "--"], build)
        if result.status:
            raise SystemExit(f"bench: {name}: {builds.last_line(result.stderr.decode())}")
    return binary
