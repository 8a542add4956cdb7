-- What a run of the new version spends in each function itself, against a run of the old one, in ms; and how often each is called.
-- What has grown most comes first.
WITH leaves AS (
    SELECT stack_id, min(leaf) AS leaf FROM stack GROUP BY stack_id
), versions AS (
    SELECT run.run_id, run.program, run.version = asked.new_version AS is_new
    FROM run CROSS JOIN asked
    WHERE run.version = asked.old_version OR run.version = asked.new_version
), timed AS (
    -- Runs of --mode counts have no times.
    SELECT sample.run_id, count(sample.self_ns) > 0 AS has_times
    FROM sample JOIN versions ON sample.run_id = versions.run_id
    GROUP BY sample.run_id
), counts AS (
    SELECT program, count(CASE WHEN is_new THEN 1 END) AS new_runs, count(CASE WHEN NOT is_new THEN 1 END) AS old_runs,
        count(CASE WHEN is_new AND has_times THEN 1 END) AS new_timed, count(CASE WHEN NOT is_new AND has_times THEN 1 END) AS old_timed
    FROM versions LEFT JOIN timed ON versions.run_id = timed.run_id
    GROUP BY program
), by_stack AS (
    SELECT versions.program, sample.stack_id,
        sum(CASE WHEN is_new THEN sample.self_ns END) AS new_self, sum(CASE WHEN NOT is_new THEN sample.self_ns END) AS old_self,
        sum(CASE WHEN is_new THEN sample.calls END) AS new_calls, sum(CASE WHEN NOT is_new THEN sample.calls END) AS old_calls
    FROM sample JOIN versions ON sample.run_id = versions.run_id
    GROUP BY versions.program, sample.stack_id
), by_function AS (
    SELECT by_stack.program, leaves.leaf,
        coalesce(sum(new_self), 0) AS new_self, coalesce(sum(old_self), 0) AS old_self,
        coalesce(sum(new_calls), 0) AS new_calls, coalesce(sum(old_calls), 0) AS old_calls
    FROM by_stack JOIN leaves ON by_stack.stack_id = leaves.stack_id
    GROUP BY by_stack.program, leaves.leaf
)
SELECT by_function.program, leaf,
    old_self / 1e6 / nullif(old_timed, 0) AS old_self_ms, new_self / 1e6 / nullif(new_timed, 0) AS new_self_ms,
    new_self / 1e6 / nullif(new_timed, 0) - old_self / 1e6 / nullif(old_timed, 0) AS more_ms,
    old_calls * 1.0 / old_runs AS old_calls, new_calls * 1.0 / new_runs AS new_calls
FROM by_function JOIN counts ON by_function.program = counts.program
WHERE old_runs > 0 AND new_runs > 0
ORDER BY more_ms DESC, by_function.program, leaf
LIMIT 20
