// What the fuzzers of sessions share: the commands that read them, where WHOLE stands for the session that is not
// damaged, and the search for what to change. fuzz.h comes first.

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

// The offset of a random header that begins with `magic`, at a multiple of 8, with room for `size` bytes; 0 where there
// is none.
static size_t find_header(struct bytes file, uint32_t magic, size_t size) {
    size_t found = 0, count = 0;
    for (size_t at = 0; at + size <= file.size; at += 8) {
        uint32_t word;
        memcpy(&word, file.start + at, sizeof word);
        if (word == magic && below(++count) == 0) found = at;
    }
    return found;
}
