import { resolve } from "node:path";
import { Command } from "commander";
import { addApiKey, listApiKeys, revokeApiKey } from "../../platform/security/api-keys.ts";
import { keyFileBeside } from "../../platform/security/api-keys-file.ts";
import {
  listSigningKeys,
  revokeSigningKey,
  rotateSigningKeys,
  signingFileOf,
} from "../../platform/security/signing-keys.ts";
import { DEFAULT_STORE } from "../../platform/settings/settings.ts";
import { StartupError } from "../../platform/startup-error.ts";
import type { CliContext } from "../context.ts";
import { collect } from "../options/option-table.ts";
import { exampleText, groupCommand } from "./agent.ts";

const EXAMPLES = [
  ["palaver keys add ci --expires 90d", "a key, shown once"],
  ["palaver keys list", "what keys there are"],
  ["palaver keys revoke 0f3a…", "that key counts no more, a second later at the latest"],
  ["palaver keys rotate", "sign cards and push notifications with a new key from now on"],
] as const;

interface FileFlags {
  readonly keys?: string;
  readonly store?: string;
}

export function keysCommand(context: CliContext): Command {
  const group = groupCommand(
    "keys",
    "Keys that callers show to agents served here, and keys that the server signs with.",
    [addCommand(context), listCommand(context), revokeCommand(context), rotateCommand(context)],
  );
  return group.addHelpText("after", exampleText(EXAMPLES));
}

function command(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .option("--keys <file>", "where keys are kept (default: keys.json beside the store)")
    .option("--store <store>", `the store of the server (default: ${DEFAULT_STORE})`)
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
  return command("add", "Makes a key and prints it. It is printed only now.")
    .argument("<name>", "what to call it")
    .option("--owner <id>", "to whom tasks belong that are made with it (default: its name)")
    .option("--tenant <name>", "the only tenant it is for")
    .option("--scope <scope>", "what it grants, where policies ask for it; may be repeated", collect)
    .option("--expires <time>", "when it ends: 12h, 90d, 52w, or a date such as 2030-01-31")
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
      await context.stderr.write(`Key ${stored.id} (${name}). Keep it now: it cannot be shown again.\n`);
    });
}

function listCommand(context: CliContext): Command {
  return command(
    "list",
    "Lists keys, without their secrets: those that callers show, and those that the server signs with.",
  )
    .option("--json", "print JSON")
    .action(async (flags: FileFlags & { readonly json?: boolean }) => {
      const now = context.now();
      const keys = listApiKeys(fileOf(flags, context)).map((key) => shown(key, now));
      const signs = signingFile(flags, context);
      const signing = signs === undefined ? [] : listSigningKeys(signs, { now: context.now });
      if (flags.json === true) {
        await context.stdout.write(`${JSON.stringify({ keys, signing })}\n`);
        return;
      }
      if (keys.length === 0) await context.stderr.write("There are no keys. Make one with palaver keys add NAME.\n");
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
  return command("revoke", "Makes a key count no more.")
    .argument("<id>", "the id that list shows")
    .action(async (id: string, flags: FileFlags) => {
      const file = fileOf(flags, context);
      if (revokeApiKey(file, id, context.now())) {
        await context.stderr.write(`Key ${id} counts no more.\n`);
        return;
      }
      const signs = signingFile(flags, context);
      if (signs !== undefined && revokeSigningKey(signs, id, { now: context.now }) !== undefined) {
        await context.stderr.write(`What key ${id} has signed counts no more.\n`);
        return;
      }
      throw new StartupError("failed", `There is no key ${id} in ${file}, or it was revoked before.`);
    });
}

function rotateCommand(context: CliContext): Command {
  return command("rotate", "Makes a new key to sign with. The one before stays published for a week.").action(
    async (flags: FileFlags) => {
      const file = signingFile(flags, context);
      if (file === undefined)
        throw new StartupError("usage", "Only a store in a file keeps keys to sign with: --store sqlite:FILE");
      const { kid } = rotateSigningKeys(file, { now: context.now });
      await context.stdout.write(`${kid}\n`);
    },
  );
}

function shown(key: ReturnType<typeof listApiKeys>[number], now: number) {
  const { hash: _, ...rest } = key;
  const isOver = key.expiresAt !== undefined && !(Date.parse(key.expiresAt) > now);
  return { ...rest, status: key.revokedAt !== undefined ? "revoked" : isOver ? "expired" : "active" };
}

function fileOf({ keys, store }: FileFlags, { env, cwd }: CliContext): string {
  return resolve(cwd, keys ?? (env["API_KEYS_FILE"] || keyFileBeside(store ?? DEFAULT_STORE)));
}

/** Signing keys are beside the store, and nowhere where that is in memory. */
function signingFile({ store = DEFAULT_STORE }: FileFlags, { cwd }: CliContext): string | undefined {
  const file = /^sqlite:(?<file>.+)$/.exec(store)?.groups?.["file"];
  return file === undefined ? undefined : signingFileOf(`sqlite:${resolve(cwd, file)}`);
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/** The end of the year 9999, after which dates are written otherwise. */
const MAX_TIME = Date.UTC(10_000, 0, 1);

/** Milliseconds since the epoch, of a duration from now or a date. */
export function expiryFrom(text: string, now: number): number {
  const [, amount, unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const at = amount === undefined ? Date.parse(text) : now + Number(amount) * (UNITS[unit] ?? 0);
  if (at > now && at < MAX_TIME) return at;
  throw new StartupError("usage", `${JSON.stringify(text)} is no time to come: say 12h, 90d, 52w or a date.`);
}
