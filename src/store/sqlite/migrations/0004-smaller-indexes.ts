import type { Migration } from "../../migrations.ts";

/**
 * Most tasks leave two indexes, so that storing them writes fewer pages. The first task of a context that the server created has `counted = 2`
 * and is found by its id (`first-task.ts`). The tasks of the first eight scopes are listed by scope also for operators (`scope-ids.ts`).
 */
export const smallerIndexes: Migration = {
  version: 4,
  sql: `
    DROP INDEX task_by_context;
    DROP INDEX task_by_agent;
    CREATE INDEX task_by_context ON task (context, scope, status_at, id) WHERE counted < 2;
    CREATE INDEX task_by_agent ON task (agent, state, status_at, id) WHERE scope > 8;
  `,
};
