import { Command } from "commander";
import {
  type CopyProgress,
  type CopyResult,
  copyStore,
  isSamePlace,
  RECORD_KINDS,
} from "../../platform/database/copy-store.ts";
import { migrateStore } from "../../platform/database/inspect-store.ts";
import { placeText, storePlace } from "../../platform/database/store-place.ts";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { exampleText, groupCommand } from "../commands/agent.ts";
import type { CliContext } from "../context.ts";
import { startProgress } from "../output/progress.ts";
import { table } from "../output/table.ts";
import { reportText } from "./report-text.ts";
import { readStoreReport } from "./store-report.ts";

const EXAMPLES = [
  ["palaver db status", "schema, nodes, leases, what waits, and sizes of the default store"],
  ["palaver db status postgres:", "the same of the database in DATABASE_URL"],
  ["palaver db migrate postgres:", "create or migrate the tables before the first node starts"],
  ["palaver db copy sqlite:.palaver/palaver.db postgres:", "move a store from SQLite to PostgreSQL"],
] as const;

/** `palaver db status | migrate | copy`. */
export function dbCommand(context: CliContext): Command {
  const group = groupCommand("db", "Look at a store, migrate it, or copy it to another database.", [
    statusCommand(context),
    migrateCommand(context),
    copyCommand(context),
  ]);
  return group.addHelpText("after", exampleText(EXAMPLES));
}

const STORES = "sqlite:FILE, postgres://USER:PASSWORD@HOST/DATABASE, or postgres: for the address in DATABASE_URL";

interface Flags {
  readonly json?: boolean;
}

function statusCommand(context: CliContext): Command {
  return new Command("status")
    .description("Show the schema version, nodes and their leases, tasks by state, what waits, and sizes.")
    .argument("[store]", `${STORES} (default: ${DEFAULT_STORE})`)
    .option("--url <url>", "address of the running server (default: the one in the operator file beside the store)")
    .option("--json", "print JSON")
    .helpOption("-h, --help", "print this help")
    .action(async (store: string | undefined, { url, json }: Flags & { readonly url?: string }) => {
      const { report, text } = await readStoreReport({ store: store ?? DEFAULT_STORE, url }, context);
      await context.stdout.write(
        json === true ? `${JSON.stringify({ store: text, ...report })}\n` : reportText(text, report),
      );
    });
}

function migrateCommand(context: CliContext): Command {
  return new Command("migrate")
    .description(
      "Create the tables, or bring them to the schema of this release. A server does the same when it starts.",
    )
    .argument("[store]", `${STORES} (default: ${DEFAULT_STORE})`)
    .option("--json", "print JSON")
    .helpOption("-h, --help", "print this help")
    .action(async (store: string | undefined, { json }: Flags) => {
      const place = storePlace(store ?? DEFAULT_STORE, context);
      const { from, to } = await migrateStore(place);
      const done = from === to ? `has schema ${to} already` : `was migrated from schema ${from} to ${to}`;
      await context.stdout.write(
        json === true ? `${JSON.stringify({ store: placeText(place), from, to })}\n` : `${placeText(place)} ${done}.\n`,
      );
    });
}

function copyCommand(context: CliContext): Command {
  return new Command("copy")
    .description(
      "Copy a store into an empty one: tasks, logs, steps, questions, webhooks with their cursors, context values and keys. All or nothing; no server may use either store.",
    )
    .argument("<from>", STORES)
    .argument("<to>", STORES)
    .option("--json", "print JSON")
    .helpOption("-h, --help", "print this help")
    .action(async (from: string, to: string, { json }: Flags) => {
      const [source, target] = [storePlace(from, context), storePlace(to, context)];
      if (isSamePlace(source, target)) throw new StartupError("usage", "Both stores are the same.");
      const progress = startProgress(context.stderr, context.env, context.now);
      let copied: CopyResult;
      try {
        copied = await copyStore(source, target, {
          signal: context.signal,
          onProgress: (step) => progress.say(progressText(step)),
        });
      } finally {
        await progress.stop();
      }
      await context.stdout.write(
        json === true
          ? `${JSON.stringify({ from: placeText(source), to: placeText(target), records: copied })}\n`
          : copiedText(copied),
      );
      await context.stderr.write(
        `${placeText(target)} has everything of ${placeText(source)}: the digests are equal. Start the server with --store and the new address; the old store is unchanged.\n`,
      );
    });
}

function progressText({ phase, tasks, total }: CopyProgress): string {
  return `${phase === "copying" ? "Copying" : "Checking the copy"}: ${tasks} of ${total} tasks`;
}

function copiedText(copied: CopyResult): string {
  const rows = RECORD_KINDS.map((kind) => [kind, String(copied[kind].count), copied[kind].digest.slice(0, 16)]);
  return table(["KIND", "RECORDS", "DIGEST"], rows);
}
