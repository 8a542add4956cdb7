"""Whether the lines `fathom ...` that a page shows, and does not run, are commands and options that there are."""

import json
import re
import shlex
import subprocess

# These words may stand before a command.
BEFORE = {"time", "sudo", "exec", "then", "do", "else", "if", "while", "until", "!", "nice", "{"}
# All behind these is for a compiler.
PASSES_ON = {"fathom cc", "fathom c++"}
# What a page puts in the place of words of the reader's own.
PLACEHOLDER = re.compile(r"^\[.*|.*\]$|^[….]+$|^\.\.\.$")


class Known:
    """The commands of a `fathom` and their options, as it tells them itself."""

    def __init__(self, fathom):
        told = subprocess.run([fathom, "--experimental-dump-help"], check=True, capture_output=True, text=True).stdout
        self.root = json.loads(told)["command"]

    def problems(self, text, blocks):
        """Pairs of a line's number and what is wrong there."""
        found = []
        for block in blocks:
            lines = [(command.line, command.text) for command in block.commands]
            if not lines and block.language in ("sh", "shell", "bash", "yaml"):
                lines = joined(block.line + 1, block.lines)
            found += [(line, words) for line, command in lines for words in self.of_line(command)]
        fenced = {line for block in blocks if block.lines for line in range(block.line, block.line + len(block.lines) + 2)}
        for number, line in enumerate(text.split("\n"), 1):
            if number in fenced:
                continue
            if line.startswith("    "):
                found += [(number, words) for words in self.of_line(line)]
            else:
                for code in re.findall(r"(?<!`)`(fathom [^`]*)`", line):
                    found += [(number, words) for words in self.of_line(code.replace("\\|", "|"))]
        return found

    def of_line(self, line):
        """What is wrong with the commands of a shell's line."""
        if "fathom" not in line:
            return []
        try:
            lexer = shlex.shlex(line, posix=True, punctuation_chars="();&")
            lexer.whitespace_split = True
            words = list(lexer)
        except ValueError:
            return [f"a shell cannot read: {line.strip()}"]
        found, parts = [], [[]]
        for word in words:
            if word in (";", "&&", "||", "|", "&", "(", ")"):
                parts.append([])
            else:
                parts[-1].append(word)
        for part in parts:
            while part and (part[0] in BEFORE or re.match(r"^\w+=", part[0]) or part[0] in ("$", "-", "run:")):
                part.pop(0)
            if part and part[0] == "fathom":
                found += self.of_command(part[1:])
        return found

    def of_command(self, words):
        command, path = self.root, "fathom"
        while words and command.get("subcommands"):
            names = {one["commandName"]: one for one in command["subcommands"]}
            wanted = [name for name in words[0].split("|") if not PLACEHOLDER.match(name)]
            if not wanted or words[0].startswith("-"):
                break
            unknown = [name for name in wanted if name not in names]
            if unknown:
                # A word in the place of a command's name, as in `fathom COMMAND`.
                return [] if unknown[0].isupper() else [f"there is no command '{path} {unknown[0]}'"]
            if names[wanted[0]]["commandName"] == "help":
                return []
            command, path = names[wanted[0]], f"{path} {wanted[0]}"
            if path in PASSES_ON:
                return []
            words = words[1:]
        options = {}
        for argument in command.get("arguments", []):
            for name in argument.get("names", []):
                options[("--" if name["kind"] == "long" else "-") + name["name"]] = argument["kind"]
        takes_command = any(argument.get("parsingStrategy") == "allRemainingInput" for argument in command["arguments"])
        found, index = [], 0
        while index < len(words):
            word = words[index]
            index += 1
            if word == "--":
                break
            name = word.strip("[]").partition("=")[0]
            if not re.match(r"^--?[A-Za-z]", name):
                if takes_command and not PLACEHOLDER.match(word):
                    break
                continue
            for one in re.split(r"[|/]", name):
                kind = options.get(one) or (options.get(one[:2]) if not one.startswith("--") else None)
                if kind is None:
                    found.append(f"'{path}' has no option '{one}'")
                elif kind == "option" and one in options and "=" not in word:
                    index += 1
        return found


def joined(first, lines):
    """Lines with those that they go on in, each with its number."""
    found = []
    for number, line in enumerate(lines, first):
        if found and found[-1][1].endswith("\\"):
            found[-1] = (found[-1][0], found[-1][1][:-1] + line)
        else:
            found.append((number, line))
    return found
