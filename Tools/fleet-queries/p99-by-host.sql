-- How long 99 % of the calls of a function take at most on each host, in µs: histograms are added up, bucket by bucket, and read at the
-- nearest rank. Exact within 1.6 %. The slowest host comes first.
WITH wanted AS (
    SELECT DISTINCT stack_id FROM stack CROSS JOIN asked WHERE stack.leaf = asked.function
), chosen AS (
    SELECT run.host, sample.hist
    FROM sample JOIN wanted ON sample.stack_id = wanted.stack_id JOIN run ON sample.run_id = run.run_id
), durations AS (
    SELECT host, explode(hist) AS duration FROM chosen
), buckets AS (
    SELECT host, duration.ns AS ns, sum(duration.calls) AS calls FROM durations GROUP BY host, duration.ns
), ranked AS (
    SELECT host, ns,
        sum(calls) OVER (PARTITION BY host ORDER BY ns) AS seen, sum(calls) OVER (PARTITION BY host) AS calls
    FROM buckets
)
SELECT host, max(calls) AS calls,
    min(CASE WHEN seen >= ceil(calls * 50 / 100.0) THEN ns END) / 1e3 AS p50_us,
    min(CASE WHEN seen >= ceil(calls * 99 / 100.0) THEN ns END) / 1e3 AS p99_us
FROM ranked
GROUP BY host
ORDER BY p99_us DESC, host
LIMIT 20
