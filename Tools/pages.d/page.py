"""What a Markdown page shows: fenced blocks, the commands in them, and the comments that say how to take a block."""

import dataclasses
import re

# <!-- KEY: VALUE --> on a line of its own says something of the block behind it, or of the page's directory.
KEYS = {
    "run": "runs a command that the page does not show",
    "file": "the block behind it is written to this file",
    "from": "the block behind it stands in this file of the repository, in one piece",
    "not run": "the block behind it is not run, for this reason",
    "numbers vary": "numbers of the block behind it differ from run to run, for this reason",
}
COMMENT = re.compile(r"^<!-- (%s): (.*) -->$" % "|".join(KEYS))


class Mistake(Exception):
    """A page that is not written as it has to be; the words begin with the line."""


@dataclasses.dataclass
class Command:
    """A command with what is shown below it."""

    text: str
    line: int  # of the file, from 1
    first: int  # the line behind the command, from 0
    shown: list


@dataclasses.dataclass
class Block:
    """A fenced block, or a command that only a comment names."""

    language: str
    line: int
    lines: list
    notes: dict
    commands: list = dataclasses.field(default_factory=list)


def all_pages(root):
    return [root / "README.md"] + sorted((root / "Documentation").rglob("*.md"))


def blocks(text):
    """The blocks of a page, in order."""
    found, notes, fence = [], {}, None
    lines = text.split("\n")
    for number, line in enumerate(lines):
        opening = re.match(r"^(```+)(\w*)", line)
        if fence:
            if line.startswith(fence) and not line.strip("`"):
                found.append(finish(language, start, lines[start + 1 : number], notes))
                fence, notes = None, {}
            continue
        if opening:
            fence, language, start = opening[1], opening[2], number
            continue
        comment = COMMENT.match(line)
        if comment and comment[1] == "run":
            found.append(Block("", number + 1, [], {}, [Command(comment[2], number + 1, number + 1, [])]))
        elif comment:
            notes[comment[1]] = comment[2]
        elif re.match(r"^<!-- [\w ]+: ", line) and not line.startswith("<!-- Tools/"):
            raise Mistake(f"{number + 1}: a comment that is none of: {', '.join(KEYS)}")
        elif line.strip() and notes:
            raise Mistake(f"{number + 1}: a block has to follow a comment such as '{list(notes)[0]}'")
    if fence:
        raise Mistake(f"{start + 1}: a block does not end")
    return found


def finish(language, start, lines, notes):
    block = Block(language, start + 1, lines, notes)
    if language == "console":
        block.commands = commands(lines, start + 1)
    elif any(re.match(r"\$ (fathom|cd) ", line) for line in lines) and language != "text":
        raise Mistake(f"{start + 1}: a block with '$ fathom' is to be fenced as ```console, or as ```text where it is an excerpt")
    if block.language == "console" and not block.commands:
        raise Mistake(f"{start + 1}: a block of a console has no line '$ COMMAND'")
    return block


def commands(lines, offset):
    found = []
    continued = False
    for number, line in enumerate(lines):
        if continued:
            found[-1].text += "\n" + line
            found[-1].first = offset + number + 1
        elif line.startswith("$ "):
            found.append(Command(line[2:], offset + number + 1, offset + number + 1, []))
        elif not found:
            raise Mistake(f"{offset + number + 1}: a block of a console begins with a line '$ COMMAND'")
        else:
            found[-1].shown.append(line)
            continue
        continued = line.endswith("\\")
    for command in found:
        while command.shown and not command.shown[-1].strip():
            command.shown.pop()
    return found
