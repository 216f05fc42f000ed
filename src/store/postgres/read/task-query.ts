/** The numbers of the parameters that the query of a record uses. */
export interface RecordParameters {
  /** How many messages, counted from the end; null: all. */
  readonly history: string;
  /** Only messages whose `after` is at most this; null: all. */
  readonly upTo: string;
  /** Contents with more bytes are left out; null: none. */
  readonly largeBytes: string;
  /** Whether artifacts are included. */
  readonly artifacts: string;
}

/**
 * Columns and joins that add seq, history and artifacts to the rows of `source`, an expression for `FROM` with all columns of `task` and a column
 * `included`. One statement reads everything, so a record shows one moment. Texts that are too large are not read.
 */
export function recordQuery(schema: string, source: string, parameters: RecordParameters): string {
  const { history, upTo, largeBytes, artifacts } = parameters;
  const limit = `coalesce(${largeBytes}::numeric, 'Infinity')`;
  return `
    SELECT task.id, task.agent, task.tenant, task.owner, task.context, task.dialect, task.created_at, task.parent, task.root, task.state,
      task.status, task.status_at, task.metadata, task.runner, task.active, task.wake_at, task.first_seq, task.epoch, task.node, task.included,
      ${schema}.last_seq_1(task.id, task.seq) AS last_seq,
      range.begins AS messages_from, range.ends AS messages_to,
      size.bytes > ${limit} AS is_large,
      CASE WHEN task.included AND size.bytes <= ${limit} THEN (
        SELECT json_agg(json_build_array(message.after, message.body, message.inbox) ORDER BY message.n) FROM ${schema}.message
        WHERE message.task = task.id AND message.n >= range.begins AND message.n < range.ends) END AS messages,
      -- Without the log, the artifacts cannot be computed again: they are never left out.
      CASE WHEN task.included AND ${artifacts}::boolean THEN (
        SELECT artifacts.body FROM ${schema}.artifacts
        WHERE artifacts.task = task.id AND (task.first_seq > 1 OR octet_length(artifacts.body) <= ${limit})) END AS artifacts
    FROM ${source}
    ${historyJoins(schema, history, upTo)}`;
}

/** Adds `range.begins`, `range.ends` and `size.bytes` of the requested messages to each `task`. */
export function historyJoins(schema: string, history: string, upTo: string): string {
  return `CROSS JOIN LATERAL (
      SELECT coalesce((SELECT message.n + 1 FROM ${schema}.message WHERE ${history}::bigint IS DISTINCT FROM 0 AND message.task = task.id
        AND (${upTo}::bigint IS NULL OR message.after <= ${upTo}::bigint) ORDER BY message.n DESC LIMIT 1), 0) AS ends
    ) AS last
    CROSS JOIN LATERAL (SELECT greatest(0, last.ends - coalesce(${history}::bigint, last.ends)) AS begins, last.ends) AS range
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(octet_length(message.body)), 0) AS bytes FROM ${schema}.message
      WHERE message.task = task.id AND message.n >= range.begins AND message.n < range.ends
    ) AS size`;
}
