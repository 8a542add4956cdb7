import TestSupport
import Testing
import TraceText

@testable import TraceExport

/// Parquet files with lists, maps and values that may lack, as DuckDB reads them.
@Suite struct NestedParquetTests {
    private static let repository = #filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" }

    private static let fields: [ParquetField] = [
        .value(.integer("row")), .value(.integer("number").optional), .value(.word("word").optional),
        .list("words", .word), .records("pairs", [.integer("first"), .integer("second")]), .map("labels"),
        .value(.moment("time")),
    ]

    /// Row by row, what both sides know: `index % 3` tells whether there is a number, `index % 5` how many words, `index % 4` how many
    /// pairs, `index % 2` whether there is a label.
    private func file(rows: Int) -> [UInt8] {
        ByteWriter.bytes { writer in
            var file = ParquetFile(writer, fields: Self.fields)
            let key = file.words.number(of: "key")
            for index in 0..<rows {
                file.add(signed: index)
                file.add(optional: index % 3 == 0 ? nil : Int64(-index))
                let word = file.words.number(of: "wörd\(index % 300)")
                file.add(optionalWord: index % 3 == 1 ? nil : word)
                let words = (0..<index % 5).map { file.words.number(of: "w\($0)") }
                file.add(words: words)
                file.add(list: (0..<index % 4).map { Int64($0) })
                file.add(list: (0..<index % 4).map { Int64($0) << 40 })
                file.add(words: index % 2 == 0 ? [] : [key])
                file.add(words: index % 2 == 0 ? [] : [word])
                file.add(UInt64(index) * 1_000_000)
                file.endRow()
            }
            file.finish()
        }
    }

    private static let script = """
        import datetime, duckdb, sys
        rows = duckdb.sql(f"select * from '{sys.argv[1]}' order by row").fetchall()
        assert len(rows) == int(sys.argv[2]), len(rows)
        for index, (row, number, word, words, pairs, labels, time) in enumerate(rows):
            assert row == index
            assert number == (None if index % 3 == 0 else -index), (index, number)
            assert word == (None if index % 3 == 1 else f'wörd{index % 300}'), (index, word)
            assert words == [f'w{i}' for i in range(index % 5)], (index, words)
            assert pairs == [{'first': i, 'second': i << 40} for i in range(index % 4)], (index, pairs)
            assert labels == ({'key': f'wörd{index % 300}'} if index % 2 else {}), (index, labels)
            assert time.timestamp() == index or time == datetime.datetime(1970, 1, 1) + datetime.timedelta(0, index), time
        nulls = duckdb.sql(f"select count(*) from '{sys.argv[1]}' where number is null").fetchall()[0][0]
        assert nulls == (len(rows) + 2) // 3, nulls
        few = duckdb.sql(f"select count(*) from '{sys.argv[1]}' where number < -10 and row < 100").fetchall()[0][0]
        assert few == sum(1 for i in range(11, min(100, len(rows))) if i % 3), few
        print('ok')
        """

    /// One row, one group of rows, and more than that.
    @Test(arguments: [1, 2, 15, 1000, 70_000]) func duckDB(_ rows: Int) throws {
        let directory = try TemporaryDirectory("parquet")
        let path = directory.file("x.parquet")
        try writeFile(file(rows: rows), to: path)
        let read = try run(
            "\(Self.repository)/.build/consumers/python/bin/python", ["-c", Self.script, path, "\(rows)"], seconds: 120)
        #expect(read.stdout == "ok\n", "\(read.stderr)")
    }

    @Test func levels() {
        var values = ParquetValues()
        values.note(values: 0)
        values.note(values: 3)
        values.note(values: 1)
        for value: Int64 in 1...4 { values.add(value) }
        // Length, header of one run of eight packed bits, the bits.
        #expect(values.levels(.any) == [2, 0, 0, 0, 3, 0b01100] + [2, 0, 0, 0, 3, 0b11110])
        #expect(values.entries == 5 && values.count == 4)
        #expect(values.levels(.one).isEmpty)
    }
}
