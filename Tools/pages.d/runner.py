"""Runs a page's commands in order, in a directory of its own."""

import dataclasses
import os
import tempfile

import compare
import page
from terminal import Terminal


@dataclasses.dataclass
class Result:
    blessed: str
    differences: list
    failures: list
    ran: int = 0
    left: int = 0


def check(text, blocks, fathom, root):
    """Runs the commands of a page and compares what they print."""
    result = Result(text, [], [])
    with tempfile.TemporaryDirectory(prefix="fathom-page-") as directory:
        for name in ("Traces", "Sources"):
            os.symlink(root / name, os.path.join(directory, name))
        terminal = None
        changes = []
        try:
            for block in blocks:
                prepare(block, directory, root)
                if block.commands and "not run" in block.notes:
                    result.left += len(block.commands)
                elif block.commands:
                    terminal = terminal or Terminal(directory, environment(directory, fathom))
                    run(block, terminal, result, changes)
        finally:
            if terminal:
                terminal.close()
    lines = text.split("\n")
    for command, new in reversed(changes):
        lines[command.first : command.first + len(command.shown)] = new
    result.blessed = "\n".join(lines)
    return result


def prepare(block, directory, root):
    """Writes the block to the file that its comment names, or looks whether it is what a file of the repository has."""
    text = "\n".join(block.lines) + "\n"
    if "file" in block.notes:
        path = os.path.join(directory, block.notes["file"])
        if not os.path.realpath(path).startswith(os.path.realpath(directory) + os.sep):
            raise page.Mistake(f"{block.line}: {block.notes['file']} does not lie in the page's directory")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    if "from" in block.notes:
        source = root / block.notes["from"]
        if not source.is_file():
            raise page.Mistake(f"{block.line}: there is no {block.notes['from']}")
        if text not in source.read_text():
            raise page.Mistake(f"{block.line}: {block.notes['from']} does not have this block in one piece")


def environment(directory, fathom):
    """Nothing of this machine's user, and `fathom` first in PATH."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    shared = os.path.join(tempfile.gettempdir(), f"fathom-pages-{os.getuid()}")
    return kept | {
        "PATH": f"{fathom.parent}:{kept.get('PATH', '/usr/bin:/bin')}", "HOME": directory, "XDG_CACHE_HOME": shared,
        "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "NO_COLOR": "1", "FATHOM_PAGER": "cat", "PAGER": "cat", "BROWSER": "true",
        "USER": "you",
    }


def run(block, terminal, result, changes):
    vary = "numbers vary" in block.notes
    for index, command in enumerate(block.commands):
        printed, status = terminal.run(command.text)
        result.ran += 1
        printed = compare.lines(printed)
        following = block.commands[index + 1].text if index + 1 < len(block.commands) else ""
        # A failure is shown as one: by its message, or by its status.
        is_shown = any(line.startswith("fathom: error:") for line in command.shown) or following == "echo $?"
        has_failed = status != 0 and not is_shown
        if has_failed:
            result.failures.append(
                f"{command.line}: '{command.text}' ended with status {status}, and the page does not show that:\n  "
                + "\n  ".join(printed[-12:]))
        difference = compare.differs(command.shown, printed, vary)
        if difference:
            # What went wrong is not for the page.
            if not has_failed:
                changes.append((command, compare.cut(command.shown, printed)))
            shown, found = ("nothing more" if line is None else line for line in difference)
            result.differences.append(
                f"{command.line}: '{command.text}'\n  shown:   {shown}\n  printed: {found}")
