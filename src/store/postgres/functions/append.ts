import { KEPT_PLANS } from "./kept-plans.ts";

/**
 * `append_1(operations, ids, writer, number, clock)`: a commit whose operations only append events to different tasks, which is what streams
 * write. It does what `commit_1` does, for all tasks with one statement: that needs about a quarter of the processor time. `ids`: the tasks.
 */
export function appendFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.append_1(operations json, ids text[], writer_name text, writer_n bigint, clock bigint) RETURNS jsonb
  LANGUAGE plpgsql ${KEPT_PLANS} AS $$
  #variable_conflict use_column
  DECLARE
    now_ms bigint := ${schema}.now_1(clock);
    last_commit ${schema}.writer;
    results jsonb;
  BEGIN
    IF writer_name IS NOT NULL THEN
      SELECT * INTO last_commit FROM ${schema}.writer WHERE name = writer_name FOR UPDATE;
      IF NOT FOUND THEN
        INSERT INTO ${schema}.writer (name, n, outcomes, at) VALUES (writer_name, writer_n - 1, '[]', now_ms) ON CONFLICT DO NOTHING;
        SELECT * INTO last_commit FROM ${schema}.writer WHERE name = writer_name FOR UPDATE;
      END IF;
      IF last_commit.n = writer_n THEN
        RETURN jsonb_build_object('outcomes', last_commit.outcomes, 'room', NULL);
      ELSIF last_commit.n > writer_n THEN
        RETURN jsonb_build_object('late', last_commit.n);
      END IF;
    END IF;
    PERFORM FROM ${schema}.task WHERE id = ANY (ids) ORDER BY id FOR UPDATE;
    -- A statement of its own: it sees what others committed before they gave the locks up.
    WITH op AS MATERIALIZED (
      SELECT * FROM ROWS FROM (json_to_recordset(operations)
          AS (task text, epoch bigint, first bigint, contiguous boolean, count bigint, bytes integer, entries text))
        WITH ORDINALITY AS given (task, epoch, first, contiguous, count, bytes, entries, n)
    ), judged AS MATERIALIZED (
      SELECT op.*, CASE WHEN task.id IS NULL THEN 'not-found' WHEN task.ended THEN 'ended'
          WHEN task.node = '' OR task.epoch <> op.epoch OR NOT op.contiguous OR op.first <> 1 + greatest(task.seq,
            (SELECT log.last FROM ${schema}.log WHERE log.task = op.task ORDER BY log.first DESC LIMIT 1)) THEN 'fenced'
          ELSE 'ok' END AS status
        FROM op LEFT JOIN ${schema}.task ON task.id = op.task
    ), added AS (
      INSERT INTO ${schema}.log (task, first, last, bytes, entries)
        SELECT judged.task, judged.first, judged.first + judged.count - 1, judged.bytes, judged.entries FROM judged WHERE judged.status = 'ok'
    )
    SELECT jsonb_agg(jsonb_build_object('status', judged.status) ORDER BY judged.n) INTO results FROM judged;
    IF writer_name IS NOT NULL THEN
      UPDATE ${schema}.writer SET n = writer_n, outcomes = results, at = now_ms WHERE name = writer_name;
    END IF;
    RETURN jsonb_build_object('outcomes', results, 'room', NULL);
  END $$;
  `;
}
