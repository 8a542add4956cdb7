# What the benchmarks share; bash reads it in.

# Reads numbers, one a line, and prints their median.
median() { sort -n | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

# FATHOM SESSION: prints how many calls a recording has.
calls_of() { "$1" info "$2" | awk '$1 == "calls" { gsub(/,/, "", $2); print $2; exit }'; }
