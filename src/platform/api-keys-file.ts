import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { StoredApiKey } from "../auth/verify/api-keys.ts";
import { messageOf, StartupError, systemCode } from "./startup-error.ts";

/** Where keys are kept if nobody says otherwise: beside the tasks. */
export function keyFileBeside(store: string): string {
  const file = /^sqlite:(?<file>.+)$/.exec(store)?.groups?.["file"];
  return join(dirname(file ?? DEFAULT_FILE), "keys.json");
}

/** Where tasks would be kept. */
const DEFAULT_FILE = ".palaver/palaver.db";

/** What tells one state of the file from another. */
export interface KeyFileState {
  readonly missing: boolean;
  readonly token: string;
}

/** The keys in a file; none where there is no file. Throws a {@link StartupError} for a file that is damaged. */
export function readKeyFile(file: string): readonly StoredApiKey[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new StartupError("failed", `The keys in ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  const keys = parse(text);
  if (keys !== undefined) return keys;
  throw new StartupError(
    "failed",
    `${file} does not hold API keys, or is damaged.\nPut it back from a backup, or move it away.`,
  );
}

function parse(text: string): readonly StoredApiKey[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Told by who asked, without what the file holds.
    return undefined;
  }
  const { version, keys } = (typeof value === "object" && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  return version === 1 && Array.isArray(keys) && keys.every(isStoredKey) ? keys : undefined;
}

function isStoredKey(value: unknown): value is StoredApiKey {
  if (typeof value !== "object" || value === null) return false;
  const texts = ["id", "name", "hash", "owner", "createdAt"].every(
    (field) => typeof Reflect.get(value, field) === "string",
  );
  const optional = ["tenant", "expiresAt", "revokedAt"].every((field) =>
    ["string", "undefined"].includes(typeof Reflect.get(value, field)),
  );
  const scopes: unknown = Reflect.get(value, "scopes");
  return texts && optional && Array.isArray(scopes) && scopes.every((scope) => typeof scope === "string");
}

export function stateOfKeyFile(file: string): KeyFileState {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return { missing: true, token: "" };
  const { ino, size, mtimeNs, ctimeNs } = stats;
  return { missing: false, token: `${ino} ${size} ${mtimeNs} ${ctimeNs}` };
}

export function isSameFile(one: KeyFileState | undefined, other: KeyFileState): boolean {
  return one?.missing === other.missing && one.token === other.token;
}

/** Changes the file: one after the other where several want to, never seen half written, and readable by its owner alone. */
export async function updateKeyFile(
  file: string,
  change: (keys: readonly StoredApiKey[]) => readonly StoredApiKey[],
): Promise<void> {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const unlock = await lock(`${file}.lock`);
    try {
      write(file, change(readKeyFile(file)));
    } finally {
      unlock();
    }
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError("failed", `The keys in ${file} cannot be changed: ${messageOf(error)}`, { cause: error });
  }
}

function write(file: string, keys: readonly StoredApiKey[]): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(descriptor, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Changes take milliseconds: who holds the lock for so long (ms) is gone. */
const LOCK_STALE = 10_000;
const LOCK_PAUSE = 20;

/** Whoever makes the file of that name holds the lock; its own name is made first, so that it is never there without an owner. */
async function lock(file: string): Promise<() => void> {
  const own = `${file}.${process.pid}.${crypto.randomUUID()}`;
  writeFileSync(own, String(process.pid), { mode: 0o600 });
  try {
    for (;;) {
      try {
        linkSync(own, file);
        return () => rmSync(file, { force: true });
      } catch (error) {
        if (systemCode(error) !== "EEXIST") throw error;
      }
      breakStale(file);
      await sleep(LOCK_PAUSE);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** Moves away the lock of somebody who is gone. Only one of those who notice can move that very file. */
function breakStale(file: string): void {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || Date.now() - stats.mtimeMs < LOCK_STALE) return;
  const aside = `${file}.${crypto.randomUUID()}.stale`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    return;
  }
  rmSync(aside, { force: true });
}
