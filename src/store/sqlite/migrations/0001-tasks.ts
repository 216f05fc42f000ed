import type { Migration } from "../../migrations.ts";

/**
 * `task`: the small columns come first, so that a list never reads a log or an artifact. `log`: the hot log, the entries of all tasks in order
 * of arrival, without an index by task, because the process that owns the file knows the rows of each task. `segment`: entries that were moved
 * out of the hot log, one task per row. `counter`: how many tasks match a list, without counting them.
 */
export const tasks: Migration = {
  version: 1,
  sql: `
    CREATE TABLE scope (
      id INTEGER PRIMARY KEY,
      agent TEXT NOT NULL,
      tenant TEXT NOT NULL,
      owner TEXT NOT NULL,
      UNIQUE (agent, tenant, owner)
    ) STRICT;

    CREATE TABLE task (
      pk INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      scope INTEGER NOT NULL,
      context TEXT NOT NULL,
      -- Whether the counters of its context include it.
      counted INTEGER NOT NULL,
      state INTEGER NOT NULL,
      status_at INTEGER NOT NULL,
      ended INTEGER NOT NULL,
      active INTEGER NOT NULL,
      wake_at INTEGER,
      node TEXT,
      epoch INTEGER NOT NULL,
      -- The end of the log when this row was last written; chunks alone do not write it.
      seq INTEGER NOT NULL,
      first_seq INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      -- Everything there is of it lies in this row.
      whole INTEGER NOT NULL,
      dialect TEXT NOT NULL,
      message_id TEXT,
      status TEXT NOT NULL,
      metadata TEXT,
      runner TEXT NOT NULL,
      messages TEXT,
      artifacts TEXT,
      log TEXT
    ) STRICT;
    CREATE INDEX task_by_scope ON task (scope, status_at, id);
    CREATE INDEX task_by_state ON task (scope, state, status_at, id);
    CREATE INDEX task_by_context ON task (scope, context, status_at, id);
    CREATE INDEX task_by_context_state ON task (scope, context, state, status_at, id) WHERE counted = 1;
    CREATE INDEX task_by_message ON task (scope, message_id) WHERE message_id IS NOT NULL;
    CREATE INDEX task_live ON task (node, active) WHERE ended = 0 AND (node IS NOT NULL OR active = 1);
    CREATE INDEX task_asleep ON task (wake_at) WHERE ended = 0 AND wake_at IS NOT NULL;

    CREATE TABLE message (
      n INTEGER PRIMARY KEY,
      task INTEGER NOT NULL,
      after INTEGER NOT NULL,
      inbox TEXT,
      body TEXT NOT NULL
    ) STRICT;
    CREATE INDEX message_by_task ON message (task);

    CREATE TABLE inbox (
      n INTEGER PRIMARY KEY,
      task INTEGER NOT NULL,
      id TEXT NOT NULL,
      cancel INTEGER NOT NULL,
      sealed INTEGER NOT NULL,
      at INTEGER NOT NULL,
      body TEXT NOT NULL,
      UNIQUE (task, id)
    ) STRICT;

    CREATE TABLE step (
      n INTEGER PRIMARY KEY,
      task INTEGER NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      UNIQUE (task, key)
    ) STRICT;

    CREATE TABLE log (
      n INTEGER PRIMARY KEY,
      task INTEGER NOT NULL,
      first INTEGER NOT NULL,
      last INTEGER NOT NULL,
      body TEXT NOT NULL
    ) STRICT;

    CREATE TABLE segment (
      task INTEGER NOT NULL,
      last INTEGER NOT NULL,
      first INTEGER NOT NULL,
      body TEXT NOT NULL,
      PRIMARY KEY (task, last)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE counter (
      scope INTEGER NOT NULL,
      context TEXT NOT NULL,
      level INTEGER NOT NULL,
      state INTEGER NOT NULL,
      bucket INTEGER NOT NULL,
      n INTEGER NOT NULL,
      PRIMARY KEY (scope, context, level, state, bucket)
    ) STRICT, WITHOUT ROWID;
  `,
};
