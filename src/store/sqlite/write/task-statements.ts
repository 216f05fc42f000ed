import type { DatabaseSync, StatementSync } from "node:sqlite";
import { IS_FIRST_TASK } from "../row/first-task.ts";

/** The writer's prepared statements. */
export interface TaskStatements {
  readonly insertTask: StatementSync;
  readonly updateHead: StatementSync;
  readonly updateEnd: StatementSync;
  readonly release: StatementSync;
  readonly claim: StatementSync;
  readonly leave: StatementSync;
  readonly insertLog: StatementSync;
  readonly insertMessage: StatementSync;
  readonly messageAfter: StatementSync;
  readonly keepInbox: StatementSync;
  readonly selectConsumed: StatementSync;
  readonly insertInbox: StatementSync;
  readonly deleteInbox: StatementSync;
  readonly clearInbox: StatementSync;
  readonly upsertStep: StatementSync;
  readonly clearSteps: StatementSync;
  readonly contextCounted: StatementSync;
  readonly uncounted: StatementSync;
  readonly createdBy: StatementSync;
  readonly insertSent: StatementSync;
  readonly setCounted: StatementSync;
}

export function prepareTaskStatements(database: DatabaseSync): TaskStatements {
  const prepare = (sql: string): StatementSync => database.prepare(sql);
  return {
    insertTask: prepare(
      `INSERT INTO task (pk, id, scope, agent, context, counted, state, status_at, ended, active, wake_at, node, epoch, seq, first_seq,
         created_at, whole, dialect, message_id, parent, root, status, metadata, runner, messages, artifacts, log)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`,
    ),
    updateHead: prepare(
      `UPDATE task SET state = ?, status_at = ?, active = ?, wake_at = ?, node = ?, seq = ?, status = ?, metadata = ?, runner = ?
       WHERE pk = ?`,
    ),
    updateEnd: prepare(
      `UPDATE task SET state = ?, status_at = ?, active = ?, wake_at = ?, node = NULL, seq = ?, status = ?, metadata = ?, runner = ?,
         ended = 1, artifacts = ? WHERE pk = ?`,
    ),
    release: prepare("UPDATE task SET node = NULL, seq = ? WHERE pk = ?"),
    claim: prepare("UPDATE task SET node = ?, epoch = ? WHERE pk = ?"),
    leave: prepare(
      "UPDATE task SET node = NULL WHERE ended = 0 AND (node IS NOT NULL OR active = 1) AND node = ? RETURNING id",
    ),
    insertLog: prepare("INSERT INTO log (n, task, first, last, body) VALUES (?, ?, ?, ?, ?)"),
    insertMessage: prepare("INSERT INTO message (task, after, inbox, body) VALUES (?, ?, ?, ?)"),
    messageAfter: prepare("SELECT 1 FROM message WHERE task = ? AND inbox IS NOT NULL AND after >= ? LIMIT 1"),
    keepInbox: prepare(
      `INSERT INTO message (task, after, inbox, body)
       SELECT task, ?, id, body FROM inbox WHERE task = ? AND cancel = 0 AND sealed = 0 ORDER BY n`,
    ),
    selectConsumed: prepare("SELECT 1 FROM message WHERE task = ? AND substr(inbox, 1, length(?)) = ? LIMIT 1"),
    insertInbox: prepare("INSERT INTO inbox (task, id, cancel, sealed, at, body) VALUES (?, ?, ?, ?, ?, ?)"),
    deleteInbox: prepare("DELETE FROM inbox WHERE task = ? AND id = ?"),
    clearInbox: prepare("DELETE FROM inbox WHERE task = ?"),
    upsertStep: prepare(
      "INSERT INTO step (task, key, value) VALUES (?, ?, ?) ON CONFLICT (task, key) DO UPDATE SET value = excluded.value",
    ),
    clearSteps: prepare("DELETE FROM step WHERE task = ?"),
    contextCounted: prepare("SELECT 1 FROM counter WHERE scope = ? AND context = ? AND level = 0 LIMIT 1"),
    uncounted: prepare(
      `SELECT pk, id, state, status_at FROM task INDEXED BY task_by_context
         WHERE context = ?3 AND scope = ?4 AND counted < 2 AND counted = 0
       UNION ALL SELECT pk, id, state, status_at FROM task WHERE ${IS_FIRST_TASK} AND +scope = ?4`,
    ),
    createdBy: prepare(
      "SELECT id FROM task WHERE scope = ? AND message_id = ? AND created_at >= ? ORDER BY pk DESC LIMIT 1",
    ),
    insertSent: prepare("INSERT INTO sent (task, digest) VALUES (?, ?)"),
    setCounted: prepare("UPDATE task SET counted = 1 WHERE pk = ?"),
  };
}
