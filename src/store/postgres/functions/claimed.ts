import { KEPT_PLANS } from "./kept-plans.ts";

/**
 * `claimed_1(ids, most)`: tasks with everything that a node needs to continue them: record, steps, inbox, and the log if it has at most `most` bytes,
 * as the texts of its rows with commas between them. One statement reads everything, so a task is seen as of one moment.
 */
export function claimedFunction(schema: string): string {
  return `
  CREATE FUNCTION ${schema}.claimed_1(ids text[], most bigint)
  RETURNS TABLE (record json, steps json, inbox json, log_first bigint, log_text text) LANGUAGE plpgsql STABLE ${KEPT_PLANS} AS $$
  #variable_conflict use_column
  BEGIN
    RETURN QUERY SELECT row_to_json(found),
        (SELECT json_agg(json_build_array(step.key, step.value)) FROM ${schema}.step WHERE step.task = found.id),
        (SELECT json_agg(json_build_object('id', inbox.id, 'kind', inbox.kind, 'sealed', inbox.sealed, 'at', inbox.at, 'body', inbox.body)
          ORDER BY inbox.n) FROM ${schema}.inbox WHERE inbox.task = found.id),
        size.first,
        CASE WHEN size.bytes <= most THEN (SELECT string_agg(part.entries, ',') FROM (
          SELECT log.entries FROM ${schema}.log WHERE log.task = found.id ORDER BY log.first) AS part) END
      FROM (
        -- As the query of a record with its whole history and without artifacts.
        SELECT task.id, task.agent, task.tenant, task.owner, task.context, task.dialect, task.created_at, task.parent, task.root, task.state,
          task.status, task.status_at, task.metadata, task.runner, task.active, task.wake_at, task.first_seq, task.epoch, task.node,
          ${schema}.last_seq_1(task.id, task.seq) AS last_seq, 0 AS messages_from, 0 AS messages_to, false AS is_large, true AS included,
          NULL AS artifacts, (SELECT json_agg(json_build_array(message.after, message.body, message.inbox) ORDER BY message.n)
            FROM ${schema}.message WHERE message.task = task.id) AS messages
        FROM ${schema}.task WHERE task.id = ANY (ids)) AS found
      CROSS JOIN LATERAL (SELECT min(log.first) AS first, sum(log.bytes) AS bytes FROM ${schema}.log WHERE log.task = found.id OFFSET 0) AS size;
  END $$;
  `;
}
