import type { Migration } from "../../migrations.ts";

/**
 * `task` gets the number of its agent, its parent and its root. They stand before the large columns, so that reading them never reads a log or an
 * artifact. A column that is added to a table stands at the end, so the table is written anew. The new index by agent lists the tasks of all
 * scopes; the list of one scope merges its states, so the index by scope alone is dropped. `journal`, `context` and `context_value`: tables of
 * their own, so that a task without them needs no space and no statement.
 *
 * The cost: the migration copies every task and builds every index in one transaction. A file with 1,000,000 tasks (1.4 GB) took 19 s of
 * processor time; its write-ahead log grew to 1.3 GB and was then truncated, and the file grew to 2.1 GB, of which new tasks use 0.7 GB again. If the
 * disk is full, the file stays as it was.
 */
export const journalAndRelations: Migration = {
  version: 3,
  sql: `
    CREATE TABLE agent (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE
    ) STRICT;
    INSERT INTO agent (name) SELECT DISTINCT agent FROM scope ORDER BY agent;
    CREATE INDEX scope_by_owner ON scope (owner);

    -- Their pages are used again at once, so that the file grows less.
    DROP INDEX task_by_scope;
    DROP INDEX task_by_state;
    DROP INDEX task_by_context;
    DROP INDEX task_by_context_state;
    DROP INDEX task_by_message;
    DROP INDEX task_live;
    DROP INDEX task_asleep;
    DROP INDEX IF EXISTS task_finished;
    DROP INDEX IF EXISTS task_logged;
    CREATE TABLE next_task (
      pk INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      scope INTEGER NOT NULL,
      -- The agent of the scope.
      agent INTEGER NOT NULL,
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
      parent TEXT,
      root TEXT,
      status TEXT NOT NULL,
      metadata TEXT,
      runner TEXT NOT NULL,
      messages TEXT,
      artifacts TEXT,
      log TEXT
    ) STRICT;
    INSERT INTO next_task (pk, id, scope, agent, context, counted, state, status_at, ended, active, wake_at, node, epoch, seq, first_seq,
        created_at, whole, dialect, message_id, status, metadata, runner, messages, artifacts, log)
      SELECT pk, task.id, scope, (SELECT agent.id FROM scope JOIN agent ON name = scope.agent WHERE scope.id = task.scope), context, counted,
        state, status_at, ended, active, wake_at, node, epoch, seq, first_seq, created_at, whole, dialect, message_id, status, metadata, runner,
        messages, artifacts, log
      FROM task ORDER BY pk;
    DROP TABLE task;
    ALTER TABLE next_task RENAME TO task;
    CREATE INDEX task_by_state ON task (scope, state, status_at, id);
    CREATE INDEX task_by_agent ON task (agent, state, status_at, id);
    CREATE INDEX task_by_context ON task (context, scope, status_at, id);
    CREATE INDEX task_by_context_state ON task (scope, context, state, status_at, id) WHERE counted = 1;
    CREATE INDEX task_by_message ON task (scope, message_id) WHERE message_id IS NOT NULL;
    CREATE INDEX task_by_parent ON task (parent, state, status_at, id, scope) WHERE parent IS NOT NULL;
    CREATE INDEX task_by_root ON task (root, state, status_at, id, scope) WHERE root IS NOT NULL;
    CREATE INDEX task_live ON task (node, active, agent) WHERE ended = 0 AND (node IS NOT NULL OR active = 1);
    CREATE INDEX task_asleep ON task (node, agent, wake_at) WHERE ended = 0 AND wake_at IS NOT NULL;

    CREATE TABLE journal (
      n INTEGER PRIMARY KEY,
      task INTEGER NOT NULL,
      key TEXT NOT NULL,
      body TEXT NOT NULL,
      UNIQUE (task, key)
    ) STRICT;

    CREATE TABLE context (
      scope INTEGER NOT NULL,
      context TEXT NOT NULL,
      -- How often its values were changed.
      changes INTEGER NOT NULL,
      PRIMARY KEY (scope, context)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE context_value (
      scope INTEGER NOT NULL,
      context TEXT NOT NULL,
      key TEXT NOT NULL,
      version INTEGER NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (scope, context, key)
    ) STRICT, WITHOUT ROWID;
  `,
};
