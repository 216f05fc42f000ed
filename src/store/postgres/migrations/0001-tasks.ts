import type { Migration } from "../../migrations.ts";

/**
 * All tables. `schema` is a quoted name.
 *
 * - `task`: what lists and claims need. `node` is empty while no node holds the lease, so that one comparison finds free tasks. `seq` is the end
 *   of the log when the row was last written: a commit that only appends to the log does not write the row.
 * - `log`: one row per task and commit; `entries` is a JSON array of `[body, note]`.
 * - `writer`: the last commit of each writer, by which a repeated commit is recognised.
 * - Text is compared by its bytes (`COLLATE "C"`), whatever the language of the database is. Keys that authors choose may be long, so indexes
 *   have their digest.
 */
export function tasks(schema: string): Migration {
  return {
    version: 1,
    sql: `
    CREATE TABLE ${schema}.task (
      id text COLLATE "C" PRIMARY KEY,
      -- Order of creation.
      n bigint GENERATED ALWAYS AS IDENTITY,
      -- Digest of agent, tenant and owner.
      scope uuid NOT NULL,
      agent text COLLATE "C" NOT NULL,
      tenant text COLLATE "C" NOT NULL,
      owner text COLLATE "C" NOT NULL,
      context text COLLATE "C" NOT NULL,
      dialect text NOT NULL,
      created_at bigint NOT NULL,
      message_id text COLLATE "C",
      digest text,
      parent text COLLATE "C",
      root text COLLATE "C",
      state text COLLATE "C" NOT NULL,
      status_at bigint NOT NULL,
      ended boolean NOT NULL,
      active boolean NOT NULL,
      wake_at bigint,
      node text COLLATE "C" NOT NULL,
      epoch bigint NOT NULL,
      seq bigint NOT NULL,
      first_seq bigint NOT NULL,
      status text NOT NULL,
      metadata text,
      runner text NOT NULL
    ) WITH (fillfactor = 85);
    CREATE INDEX task_by_scope ON ${schema}.task (scope, state, status_at, id);
    CREATE INDEX task_by_agent ON ${schema}.task (agent, state, status_at, id);
    CREATE INDEX task_by_context ON ${schema}.task (context, scope, status_at, id);
    CREATE INDEX task_by_message ON ${schema}.task (message_id, scope, n) WHERE message_id IS NOT NULL;
    CREATE INDEX task_by_parent ON ${schema}.task (parent, status_at, id) WHERE parent IS NOT NULL;
    CREATE INDEX task_by_root ON ${schema}.task (root, status_at, id) WHERE root IS NOT NULL;
    CREATE INDEX task_held ON ${schema}.task (node) WHERE NOT ended AND node <> '';
    CREATE INDEX task_active ON ${schema}.task (node, n) WHERE NOT ended AND active;
    CREATE INDEX task_asleep ON ${schema}.task (node, wake_at) WHERE NOT ended AND wake_at IS NOT NULL;
    CREATE INDEX task_finished ON ${schema}.task (status_at, id) WHERE ended;
    CREATE INDEX task_logged ON ${schema}.task (status_at, id) WHERE ended AND first_seq <= seq;

    CREATE TABLE ${schema}.log (
      task text COLLATE "C" NOT NULL,
      first bigint NOT NULL,
      last bigint NOT NULL,
      bytes integer NOT NULL,
      entries text NOT NULL,
      PRIMARY KEY (task, first)
    );

    CREATE TABLE ${schema}.artifacts (
      task text COLLATE "C" PRIMARY KEY,
      body text NOT NULL
    );

    CREATE TABLE ${schema}.message (
      task text COLLATE "C" NOT NULL,
      -- 0 is the oldest.
      n integer NOT NULL,
      after bigint NOT NULL,
      inbox text COLLATE "C",
      body text NOT NULL,
      PRIMARY KEY (task, n)
    );

    CREATE TABLE ${schema}.inbox (
      task text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      n bigint GENERATED ALWAYS AS IDENTITY,
      kind text COLLATE "C" NOT NULL,
      sealed boolean NOT NULL,
      at bigint NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (task, id)
    );

    CREATE TABLE ${schema}.step (
      task text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      value text NOT NULL
    );
    CREATE UNIQUE INDEX step_by_key ON ${schema}.step (task, md5(key));

    CREATE TABLE ${schema}.journal (
      task text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      n bigint GENERATED ALWAYS AS IDENTITY,
      body text NOT NULL
    );
    CREATE UNIQUE INDEX journal_by_key ON ${schema}.journal (task, md5(key));

    CREATE TABLE ${schema}.context (
      scope uuid NOT NULL,
      context text COLLATE "C" NOT NULL,
      -- How often its values were changed.
      changes bigint NOT NULL,
      PRIMARY KEY (scope, context)
    );
    CREATE TABLE ${schema}.context_value (
      scope uuid NOT NULL,
      context text COLLATE "C" NOT NULL,
      key text COLLATE "C" NOT NULL,
      version bigint NOT NULL,
      value text NOT NULL
    );
    CREATE UNIQUE INDEX context_value_by_key ON ${schema}.context_value (scope, context, md5(key));

    -- One counter for all webhooks, so that a webhook that is deleted and set again never gets an epoch that a delivery still uses.
    CREATE SEQUENCE ${schema}.webhook_epoch;
    CREATE TABLE ${schema}.webhook (
      task text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      n bigint GENERATED ALWAYS AS IDENTITY,
      state text COLLATE "C" NOT NULL,
      cursor bigint NOT NULL,
      attempts integer NOT NULL,
      next_at bigint NOT NULL,
      epoch bigint NOT NULL DEFAULT nextval('${schema}.webhook_epoch'),
      node text COLLATE "C" NOT NULL DEFAULT '',
      at bigint NOT NULL,
      unnamed boolean NOT NULL,
      failed_at bigint,
      failure text,
      dialect text NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (task, id)
    ) WITH (fillfactor = 85);
    CREATE INDEX webhook_active ON ${schema}.webhook (node, next_at) WHERE state = 'active';
    CREATE INDEX webhook_failed ON ${schema}.webhook (failed_at DESC, task, id) WHERE state IN ('suspended', 'removed');

    CREATE TABLE ${schema}.node (
      id text COLLATE "C" PRIMARY KEY,
      lease_until bigint NOT NULL
    ) WITH (fillfactor = 50);

    CREATE TABLE ${schema}.writer (
      name text COLLATE "C" PRIMARY KEY,
      n bigint NOT NULL,
      outcomes jsonb NOT NULL,
      at bigint NOT NULL
    ) WITH (fillfactor = 50);

    CREATE TABLE ${schema}.probe (body text NOT NULL);
    -- Not compressed, so that a probe needs its whole size.
    ALTER TABLE ${schema}.probe ALTER COLUMN body SET STORAGE EXTERNAL;
    CREATE TABLE ${schema}.secret (name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
    `,
  };
}
