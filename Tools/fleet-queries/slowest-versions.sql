-- How long the runs of each version take: the total time of their roots, in ms. The slowest come first, by the 90th percentile
-- (nearest rank).
WITH roots AS (
    SELECT DISTINCT stack_id FROM stack WHERE depth = 0
), totals AS (
    SELECT sample.run_id, sum(sample.total_ns) AS total
    FROM sample JOIN roots ON sample.stack_id = roots.stack_id
    GROUP BY sample.run_id
), ranked AS (
    SELECT run.program, run.version, totals.total,
        row_number() OVER (PARTITION BY run.program, run.version ORDER BY totals.total) AS place,
        count(*) OVER (PARTITION BY run.program, run.version) AS runs
    FROM totals JOIN run ON totals.run_id = run.run_id
    WHERE run.version IS NOT NULL AND totals.total IS NOT NULL
)
SELECT program, version, max(runs) AS runs,
    max(CASE WHEN place = ceil(runs * 50 / 100.0) THEN total END) / 1e6 AS p50_ms,
    max(CASE WHEN place = ceil(runs * 90 / 100.0) THEN total END) / 1e6 AS p90_ms,
    max(total) / 1e6 AS max_ms
FROM ranked
GROUP BY program, version
ORDER BY p90_ms DESC, program, version
LIMIT 20
