"""What ran, as Tools/differential prints it: programs by builds, and modes by builds."""

import collections


def rows(title, columns, cells):
    """A table of Markdown. cells: (row, column) -> number."""
    names = sorted({row for row, _ in cells})
    lines = ["| " + " | ".join([title, *columns]) + " |", "| " + " | ".join(["---"] + ["---:"] * len(columns)) + " |"]
    for name in names:
        lines.append("| " + " | ".join([name, *(str(cells[name, column] or "") for column in columns)]) + " |")
    return "\n".join(lines)


def text(ran, refusals):
    by_program, by_build, by_mode, by_option, bad = (collections.Counter() for _ in range(5))
    for (program, build, mode, kind), number in ran.items():
        column = f"{build.compiler} {build.kind}"
        if kind == "refused":
            continue
        by_program[program, column] += number
        for word in [f"-{build.level}", build.link, *build.flags]:
            by_build[word, column] += number
        by_mode[mode.base, column] += number
        for option in mode.options:
            by_option[option, column] += number
    columns = sorted({column for _, column in by_program})
    parts = [rows(title, columns, cells) for title, cells in
             (("program", by_program), ("build", by_build), ("mode", by_mode), ("option", by_option)) if cells]
    if refusals:
        parts.append("\n".join(f"refused {number}: {why}" for why, number in refusals.most_common()))
    return "\n\n".join(parts)
