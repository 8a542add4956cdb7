"""A shell on a terminal of 100 columns, as a reader has one, that runs one command after the other."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

COLUMNS, ROWS = 100, 50
FULL_SCREEN = b"\x1b[?1049h"
END = b"\x1b]check-pages:"


class Terminal:
    def __init__(self, directory, environment):
        script, self.script = os.pipe()
        self.shell, self.master = pty.fork()
        if self.shell == 0:
            os.chdir(directory)
            os.dup2(script, 9)
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "/dev/fd/9"], environment)
        os.close(script)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        attributes = termios.tcgetattr(self.master)
        attributes[1] &= ~termios.OPOST
        attributes[3] &= ~termios.ECHO
        termios.tcsetattr(self.master, termios.TCSANOW, attributes)

    def run(self, command, seconds=120):
        """What the command printed, and its status; a screen that fills the terminal is left by its key `q`."""
        # The descriptor of this script is no business of the command's, and a command sees the status of the one before it.
        line = f"(exit ${{status:-0}}); {{ {command}\n}} 9<&-; status=$?; printf '\\033]check-pages:%d\\a' $status\n"
        os.write(self.script, line.encode())
        printed, until, asked = b"", time.monotonic() + seconds, False
        while not (END in printed and printed.endswith(b"\a")):
            ready = select.select([self.master], [], [], 0.3)[0]
            if ready:
                try:
                    printed += os.read(self.master, 1 << 16)
                except OSError:
                    return printed.decode(errors="replace"), -1
            elif FULL_SCREEN in printed and not asked:
                os.write(self.master, b"q")
                asked = True
            elif time.monotonic() > until:
                return printed.decode(errors="replace") + f"\n(no end within {seconds} s)", -1
        printed, status = printed[:-1].split(END)
        if asked:
            printed = b""
        return printed.decode(errors="replace"), int(status)

    def close(self):
        """Ends the shell, and what it left running."""
        os.close(self.script)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for process in self.left():
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    continue
            for _ in range(100):
                if not self.left():
                    break
                time.sleep(0.02)
        os.close(self.master)

    def left(self):
        """The processes of the shell's session."""
        try:
            os.waitpid(self.shell, os.WNOHANG)
        except ChildProcessError:
            pass
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/stat", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.shell and fields[0] != "Z":
                found.append(int(name))
        return found
