// The commands by which fuzzers read sessions; WHOLE stands for the session that is not damaged.

#pragma once

static const char *const commands[] = {
    "info",
    "info --check --format json",
    "info --check",
    "tree",
    "tree --sort time --limit 30",
    "tree --format json --lines",
    "report",
    "report --by path --format json",
    "report --by thread --format csv",
    "report --by module --no-cache",
    "graph",
    "graph main --format json",
    "flame -o -",
    "dump",
    "dump --format jsonl",
    "tune",
    "diff WHOLE",
    "diff WHOLE --by path",
    "export -o - --format perfetto",
    "export -o - --format chrome",
    "export -o - --format speedscope",
    "export -o - --format firefox",
    "export -o - --format folded",
    "export -o - --format pprof",
    "export -o - --format callgrind",
    "export -o - --format dot",
    "export -o - --format csv",
    "export -o - --format parquet",
    "tree --process * --thread main -D2 -t1ns --from 1us --to 1s",
    "flame --time-order -o -",
};
#define COMMANDS (sizeof commands / sizeof *commands)
