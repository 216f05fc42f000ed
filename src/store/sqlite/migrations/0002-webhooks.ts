import type { Migration } from "../../migrations.ts";

/**
 * `webhook`: the webhooks of tasks and how far delivery has come. `sent`: digests of idempotent messages. Both are separate tables, so that a
 * task without them needs no space, and a delivery does not rewrite the task's row.
 */
export const webhooks: Migration = {
  version: 2,
  sql: `
    CREATE TABLE webhook (
      n INTEGER PRIMARY KEY,
      task INTEGER NOT NULL,
      id TEXT NOT NULL,
      -- 0 active, 1 idle, 2 suspended, 3 removed.
      state INTEGER NOT NULL,
      cursor INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      next_at INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      -- Only while it is active.
      node TEXT,
      at INTEGER NOT NULL,
      unnamed INTEGER NOT NULL,
      failed_at INTEGER,
      failure TEXT,
      dialect TEXT NOT NULL,
      body TEXT NOT NULL,
      UNIQUE (task, id)
    ) STRICT;
    CREATE INDEX webhook_active ON webhook (node, next_at) WHERE state = 0;
    CREATE INDEX webhook_failed ON webhook (failed_at) WHERE state >= 2;

    CREATE TABLE sent (
      task INTEGER PRIMARY KEY,
      digest TEXT NOT NULL
    ) STRICT;
  `,
};
