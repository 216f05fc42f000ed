/** Rows of a log that one call reads at most. */
const MAX_ROWS = 1000;

/**
 * `changes_1(ids, afters, most, messages)`: the tasks with events after a seq, with these events if they have at most `most` bytes. One statement
 * reads everything, so a task is seen as of one moment. A function, because its plan is kept: a statement of its own would be planned at each
 * call, which costs more than reading.
 */
export function changesFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.changes_1(ids text[], afters bigint[], most bigint[], messages bigint)
  RETURNS TABLE (id text, state text, status text, status_at bigint, metadata text, runner text, active boolean, wake_at bigint,
    last_seq bigint, log_rows json, consumed json) LANGUAGE plpgsql STABLE AS $$
  #variable_conflict use_column
  BEGIN
    RETURN QUERY SELECT task.id, task.state, task.status, task.status_at, task.metadata, task.runner, task.active, task.wake_at, ends.seq,
        CASE WHEN known.most > 0 AND later.rows <= ${MAX_ROWS} AND later.bytes <= known.most THEN (
          SELECT json_agg(json_build_array(log.first, log.entries) ORDER BY log.first) FROM ${schema}.log
          WHERE log.task = task.id AND log.first >= begins.first AND log.last > known.after) END,
        (SELECT json_agg(json_build_array(found.inbox, found.after) ORDER BY found.n) FROM (
          SELECT message.inbox, message.after, message.n FROM ${schema}.message WHERE message.task = task.id
          ORDER BY message.n DESC LIMIT messages) AS found WHERE found.inbox IS NOT NULL)
      FROM unnest(ids, afters, most) AS known (id, after, most)
      JOIN ${schema}.task ON task.id = known.id
      CROSS JOIN LATERAL (SELECT greatest(task.seq,
        (SELECT log.last FROM ${schema}.log WHERE log.task = task.id ORDER BY log.first DESC LIMIT 1)) AS seq) AS ends
      CROSS JOIN LATERAL (SELECT coalesce(
        (SELECT log.first FROM ${schema}.log WHERE log.task = task.id AND log.first <= known.after + 1 ORDER BY log.first DESC LIMIT 1), 0) AS first) AS begins
      CROSS JOIN LATERAL (SELECT coalesce(sum(page.bytes), 0) AS bytes, count(*) AS rows FROM (
        SELECT log.bytes FROM ${schema}.log WHERE known.most > 0 AND log.task = task.id AND log.first >= begins.first AND log.last > known.after
        ORDER BY log.first LIMIT ${MAX_ROWS + 1}) AS page) AS later
      WHERE ends.seq > known.after;
  END $$;
  `;
}
