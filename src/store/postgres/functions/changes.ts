import { KEPT_PLANS } from "./kept-plans.ts";

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
    last_seq bigint, log_rows json, consumed json) LANGUAGE plpgsql STABLE ${KEPT_PLANS} AS $$
  #variable_conflict use_column
  BEGIN
    RETURN QUERY SELECT task.id, task.state, task.status, task.status_at, task.metadata, task.runner, task.active, task.wake_at,
        CASE WHEN later.rows > ${MAX_ROWS} THEN ${schema}.last_seq_1(task.id, task.seq) ELSE greatest(task.seq, later.last) END,
        CASE WHEN later.rows <= ${MAX_ROWS} AND later.bytes <= known.most THEN later.texts END,
        (SELECT json_agg(json_build_array(found.inbox, found.after) ORDER BY found.n) FROM (
          SELECT message.inbox, message.after, message.n FROM ${schema}.message WHERE message.task = task.id
          ORDER BY message.n DESC LIMIT messages) AS found WHERE found.inbox IS NOT NULL)
      FROM unnest(ids, afters, most) AS known (id, after, most)
      JOIN ${schema}.task ON task.id = known.id
      -- OFFSET 0: computed once. The row that contains the known seq may also contain later events.
      CROSS JOIN LATERAL (SELECT coalesce((SELECT log.first FROM ${schema}.log WHERE log.task = task.id AND log.first <= known.after + 1
        ORDER BY log.first DESC LIMIT 1), 0) AS first OFFSET 0) AS begins
      -- The server reads no text of the rows that are too many.
      CROSS JOIN LATERAL (SELECT count(*) AS rows, sum(page.bytes) AS bytes, max(page.last) AS last,
          json_agg(json_build_array(page.first, page.entries) ORDER BY page.first) FILTER (WHERE page.through <= known.most) AS texts FROM (
        SELECT part.first, part.last, part.bytes, part.entries, sum(part.bytes) OVER (ORDER BY part.first) AS through FROM (
          SELECT log.first, log.last, log.bytes, log.entries FROM ${schema}.log
          WHERE log.task = task.id AND log.first >= begins.first AND log.last > known.after
          ORDER BY log.first LIMIT ${MAX_ROWS + 1}) AS part) AS page OFFSET 0) AS later
      WHERE greatest(task.seq, later.last) > known.after;
  END $$;
  `;
}
