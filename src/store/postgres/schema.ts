import type { Migration } from "../migrations.ts";
import { appendFunction } from "./functions/append.ts";
import { changesFunction } from "./functions/changes.ts";
import { claimDueFunction } from "./functions/claim-due.ts";
import { claimedFunction } from "./functions/claimed.ts";
import { claimDue2Function, claimFunctions } from "./functions/claims.ts";
import { commitFunction } from "./functions/commit.ts";
import { retentionFunctions } from "./functions/retention.ts";
import { taskFunctions } from "./functions/task.ts";
import { webhookFunctions } from "./functions/webhook.ts";
import { writeFunction } from "./functions/write.ts";
import { tasks } from "./migrations/0001-tasks.ts";

/** A migration, and the oldest release that can work with its result, as the schema version of that release. */
export interface PostgresMigration extends Migration {
  readonly readableFrom: number;
}

/**
 * The migrations of a schema, oldest first. Nodes of two releases may use one database during a deployment: a migration adds, and a function that
 * changes gets a new name (`commit_2`), so that the nodes of the release before continue to work.
 */
export function migrationsOf(schema: string): readonly PostgresMigration[] {
  const { version, sql } = tasks(schema);
  const functions = [
    commitFunction,
    retentionFunctions,
    writeFunction,
    taskFunctions,
    webhookFunctions,
    claimFunctions,
  ];
  const second = [changesFunction, claimDue2Function, appendFunction];
  const third = [claimedFunction, claimDueFunction];
  // The functions call each other, so they are checked when they are first called.
  const checks = "SET LOCAL check_function_bodies = off;";
  return [
    { version, sql: [sql, checks, ...functions.map((text) => text(schema))].join("\n"), readableFrom: 1 },
    { version: 2, sql: second.map((text) => text(schema)).join("\n"), readableFrom: 1 },
    { version: 3, sql: third.map((text) => text(schema)).join("\n"), readableFrom: 1 },
  ];
}

/** The quoted name of a schema. Throws a `TypeError` that says what a name may be. */
export function quotedSchema(name: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(name))
    throw new TypeError(
      `The schema ${JSON.stringify(name)} must have 1 to 63 lower-case letters, digits or underscores, and not begin with a digit.`,
    );
  return `"${name}"`;
}
