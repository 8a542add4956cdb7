-- Call paths that runs of the new version have and none of the old one: in how many runs, and what they take of all of them together,
-- in ms. What is called most comes first.
WITH versions AS (
    SELECT run.run_id, run.version = asked.new_version AS is_new
    FROM run CROSS JOIN asked
    WHERE run.version = asked.old_version OR run.version = asked.new_version
), by_stack AS (
    SELECT sample.stack_id, count(CASE WHEN is_new THEN 1 END) AS runs, count(CASE WHEN NOT is_new THEN 1 END) AS old_runs,
        sum(CASE WHEN is_new THEN sample.calls END) AS calls, sum(CASE WHEN is_new THEN sample.total_ns END) AS total
    FROM sample JOIN versions ON sample.run_id = versions.run_id
    GROUP BY sample.stack_id
), fresh AS (
    SELECT stack_id, runs, calls, total FROM by_stack WHERE old_runs = 0 AND runs > 0
), named AS (
    SELECT stack.stack_id, any_value(stack.names) AS names
    FROM stack JOIN fresh ON stack.stack_id = fresh.stack_id
    GROUP BY stack.stack_id
)
SELECT array_join(named.names, ';') AS path, runs, calls, total / 1e6 AS total_ms
FROM named JOIN fresh ON named.stack_id = fresh.stack_id
ORDER BY calls DESC, path
LIMIT 20
