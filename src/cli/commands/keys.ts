import { resolve } from "node:path";
import { Command } from "commander";
import { addApiKey, listApiKeys, revokeApiKey } from "../../platform/security/api-keys.ts";
import { keyFileBeside } from "../../platform/security/api-keys-file.ts";
import { type StoredSigningKeys, storedSigningKeys } from "../../platform/security/stored-signing-keys.ts";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { CliContext } from "../context.ts";
import { collect } from "../options/option-table.ts";
import { exampleText, groupCommand } from "./agent.ts";

const EXAMPLES = [
  ["palaver keys add ci --expires 90d", "make a key; it is printed only once"],
  ["palaver keys list", "list the keys, without secrets"],
  ["palaver keys revoke 0f3a…", "the key becomes invalid within 1 s"],
  ["palaver keys rotate", "sign cards and push notifications with a new key"],
  ["palaver keys rotate --store postgres:", "the same for all nodes of the database in DATABASE_URL"],
] as const;

/** Where the keys are. */
interface FileFlags {
  readonly keys?: string;
  readonly store?: string;
}

/** `palaver keys add | list | revoke | rotate`. The commands change files, which a running server reads within 1 s, or rows of PostgreSQL, which nodes read within 5 s; no server is called. */
export function keysCommand(context: CliContext): Command {
  const group = groupCommand("keys", "Manage the API keys of callers and the signing keys of the server.", [
    addCommand(context),
    listCommand(context),
    revokeCommand(context),
    rotateCommand(context),
  ]);
  return group.addHelpText("after", exampleText(EXAMPLES));
}

function command(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--keys <file>", "file of the API keys (default: keys.json beside the store)")
    .option("--store <store>", `store of the server (default: ${DEFAULT_STORE})`)
    .helpOption("-h, --help", "print this help");
}

interface AddFlags extends FileFlags {
  readonly owner?: string;
  readonly tenant?: string;
  readonly scope?: readonly string[];
  readonly expires?: string;
  readonly json?: boolean;
}

function addCommand(context: CliContext): Command {
  return command("add", "Make an API key and print it. It cannot be printed again.")
    .argument("<name>", "name of the key")
    .option("--owner <id>", "owner of the tasks that this key creates (default: its name)")
    .option("--tenant <name>", "the only tenant that the key is valid for")
    .option("--scope <scope>", "scope that the key grants; may be repeated", collect)
    .option("--expires <time>", "when it expires: 12h, 90d, 52w, or a date such as 2030-01-31 (default: never)")
    .option("--json", "print JSON")
    .action(async (name: string, flags: AddFlags) => {
      const { owner, tenant, scope: scopes, expires } = flags;
      const now = context.now();
      const expiresAt = expires === undefined ? undefined : expiryFrom(expires, now);
      const { key, stored } = await addApiKey(fileOf(flags, context), { name, owner, tenant, scopes, expiresAt }, now);
      if (flags.json === true) {
        await context.stdout.write(`${JSON.stringify({ key, ...shown(stored, now) })}\n`);
        return;
      }
      await context.stdout.write(`${key}\n`);
      await context.stderr.write(`Key ${stored.id} (${name}). Store it now: it cannot be shown again.\n`);
    });
}

function listCommand(context: CliContext): Command {
  return command("list", "List API keys and signing keys, without their secrets.")
    .option("--json", "print JSON")
    .action(async (flags: FileFlags & { readonly json?: boolean }) => {
      const now = context.now();
      const keys = listApiKeys(fileOf(flags, context)).map((key) => shown(key, now));
      const signing = (await signingKeys(flags, context)?.list()) ?? [];
      if (flags.json === true) {
        await context.stdout.write(`${JSON.stringify({ keys, signing })}\n`);
        return;
      }
      if (keys.length === 0) await context.stderr.write("There are no API keys. Make one: palaver keys add NAME\n");
      for (const { id, name, owner, tenant, scopes, status, expiresAt } of keys) {
        const facts = [
          `owner=${owner}`,
          ...(tenant === undefined ? [] : [`tenant=${tenant}`]),
          ...(scopes.length === 0 ? [] : [`scopes=${scopes.join(",")}`]),
          ...(expiresAt === undefined ? [] : [`expires=${expiresAt}`]),
        ];
        await context.stdout.write(`${id}  ${status.padEnd(8)}  ${name}  ${facts.join(" ")}\n`);
      }
      for (const { kid, state, createdAt } of signing) {
        await context.stdout.write(`${kid}  ${state.padEnd(8)}  (signs)  created=${createdAt}\n`);
      }
    });
}

function revokeCommand(context: CliContext): Command {
  return command("revoke", "Make a key invalid.")
    .argument("<id>", "id of the key, as palaver keys list shows it")
    .action(async (id: string, flags: FileFlags) => {
      const file = fileOf(flags, context);
      if (revokeApiKey(file, id, context.now())) {
        await context.stderr.write(`Key ${id} is no longer valid.\n`);
        return;
      }
      if ((await signingKeys(flags, context)?.revoke(id)) !== undefined) {
        await context.stderr.write(`Signatures of key ${id} are no longer valid.\n`);
        return;
      }
      throw new StartupError("failed", `${file} has no key ${id}, or the key was revoked already.`);
    });
}

function rotateCommand(context: CliContext): Command {
  return command("rotate", "Make a new signing key. The previous one stays published for a week.").action(
    async (flags: FileFlags) => {
      const keys = signingKeys(flags, context);
      if (keys === undefined)
        throw new StartupError("usage", "Signing keys need a store that is kept: --store sqlite:FILE or postgres://…");
      const { kid } = await keys.rotate();
      await context.stdout.write(`${kid}\n`);
    },
  );
}

/** A key for output: without its hash, with its status. */
function shown(key: ReturnType<typeof listApiKeys>[number], now: number) {
  const { hash: _, ...rest } = key;
  const isOver = key.expiresAt !== undefined && !(Date.parse(key.expiresAt) > now);
  return { ...rest, status: key.revokedAt !== undefined ? "revoked" : isOver ? "expired" : "active" };
}

/** `--keys`, else `API_KEYS_FILE`, else `keys.json` beside the store. */
function fileOf({ keys, store }: FileFlags, { env, cwd }: CliContext): string {
  return resolve(cwd, keys ?? (env["API_KEYS_FILE"] || keyFileBeside(store ?? DEFAULT_STORE)));
}

/** The signing keys of the store: a file beside SQLite, a row of PostgreSQL. `undefined`: the store is in memory. */
function signingKeys({ store = DEFAULT_STORE }: FileFlags, context: CliContext): StoredSigningKeys | undefined {
  const { cwd, env, now } = context;
  const file = /^sqlite:(?<file>.+)$/.exec(store)?.groups?.["file"];
  return storedSigningKeys(file === undefined ? store : `sqlite:${resolve(cwd, file)}`, env, { now });
}

/** Milliseconds per unit. `m` is minutes. */
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The end of the year 9999. Later dates have another ISO 8601 format. */
const MAX_TIME = Date.UTC(10_000, 0, 1);

/**
 * Parses a duration from now (`90d`), or a date (`2030-01-31`). Returns milliseconds since the epoch. Throws a {@link StartupError} for
 * other text and for times that are not in the future.
 */
export function expiryFrom(text: string, now: number): number {
  const [, amount, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const at = amount === undefined ? Date.parse(text) : now + Number(amount) * (UNITS[unit] ?? 0);
  if (at > now && at < MAX_TIME) return at;
  throw new StartupError("usage", `${JSON.stringify(text)} is not a time in the future. Use 12h, 90d, 52w or a date.`);
}
