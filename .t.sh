export FATHOM_BIN=/work/main/.build/release/fathom
swift test --ignore-lock --skip-build --filter "$1" > /tmp/test.log 2>&1; grep -aE "✘|Test run with|Fatal|crashed" /tmp/test.log | cut -c1-420
