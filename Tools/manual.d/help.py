"""What a `fathom` says of its commands, for the tools that make pages of it."""

import json
import re
import subprocess


def output(fathom, *arguments):
    return subprocess.run([fathom, *arguments], check=True, capture_output=True, text=True).stdout


def root(fathom):
    """The command line as a tree of commands, each a dictionary as Swift's ArgumentParser writes it."""
    return json.loads(output(fathom, "--experimental-dump-help"))["command"]


def children(command):
    return [
        one for one in command.get("subcommands", [])
        if one["commandName"] != "help" and one.get("shouldDisplay", True)
    ]


def usage(shown):
    """The lines of the usage in a command's help, without its heading."""
    block = re.search(r"^USAGE: (.*?)\n\n", shown + "\n\n", re.S | re.M)
    return [line.strip() for line in re.sub(r"\n {8,}", " ", block[1]).split("\n")]


def statuses(shown):
    """How the command ends, as its help says it: pairs of a status and its meaning."""
    table = re.findall(r"^  (\S+) +(.*(?:\n {8,}.*)*)", shown.partition("EXIT STATUS:\n")[2], re.M)
    return [(status, " ".join(meaning.split())) for status, meaning in table]


def spellings(argument):
    """All names of an option, the short ones first: -o, --output."""
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    names = sorted(argument["names"], key=lambda name: name["kind"] == "long")
    return [dashes[name["kind"]] + name["name"] for name in names]


def explanation(argument):
    parts = [argument.get("abstract", ""), argument.get("discussion", "")]
    if argument.get("allValues"):
        parts.append("One of " + ", ".join(argument["allValues"]) + ".")
    if argument.get("defaultValue"):
        parts.append("By default " + argument["defaultValue"] + ".")
    return " ".join(part for part in parts if part)


def sections(command):
    """The arguments that help shows, in its order: pairs of a section's title, or None, and what is in it."""
    found = []
    for argument in command.get("arguments", []):
        if not argument["shouldDisplay"]:
            continue
        title = argument.get("sectionTitle")
        if not found or found[-1][0] != title:
            found.append((title, []))
        found[-1][1].append(argument)
    return found


def examples(discussion):
    """The discussion without its examples, and these: pairs of a command line and what it does."""
    before, _, rest = discussion.partition("EXAMPLES:\n")
    lines = rest.split("\n") if rest else []
    return before.strip(), [(lines[i].strip(), lines[i + 1].strip()) for i in range(0, len(lines) - 1, 2)]
