import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StoredApiKey } from "../../auth/verify/api-keys.ts";
import { messageOf, StartupError, systemCode } from "../startup-error.ts";
import { changeFile } from "./locked-file.ts";

/** The default file of API keys: `keys.json` beside the store. */
export function keyFileBeside(store: string): string {
  const file = /^sqlite:(?<file>.+)$/.exec(store)?.groups?.["file"];
  return join(dirname(file ?? DEFAULT_FILE), "keys.json");
}

/** The file of the default store. */
const DEFAULT_FILE = ".palaver/palaver.db";

/** Identifies one state of the file. */
export interface KeyFileState {
  readonly missing: boolean;
  /** Changes whenever the file changes. */
  readonly token: string;
}

/** Reads the keys; none if the file does not exist. Throws a {@link StartupError} if it is damaged. */
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
    `${file} does not contain API keys, or is damaged.\nRestore it from a backup, or move it away.`,
  );
}

function parse(text: string): readonly StoredApiKey[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The caller reports it, without the content of the file.
    return undefined;
  }
  const { version, keys } = (typeof value === "object" && value !== null ? value : {}) as Readonly<
    Record<string, unknown>
  >;
  return version === 1 && Array.isArray(keys) && keys.every(isStoredKey) ? keys : undefined;
}

/** One invalid key makes the whole file invalid: skipping it could hide a revocation. */
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

/** Without reading the file. Inode and both times, because a restored backup may have an old modification time. */
export function stateOfKeyFile(file: string): KeyFileState {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return { missing: true, token: "" };
  const { ino, size, mtimeNs, ctimeNs } = stats;
  return { missing: false, token: `${ino} ${size} ${mtimeNs} ${ctimeNs}` };
}

/** False for a file that was never read. */
export function isSameFile(one: KeyFileState | undefined, other: KeyFileState): boolean {
  return one?.missing === other.missing && one.token === other.token;
}

/**
 * Changes the file under a lock. It is replaced atomically and never readable for all. `change` returns `undefined` to leave the file as it
 * is. Throws a {@link StartupError}.
 */
export function updateKeyFile(
  file: string,
  change: (keys: readonly StoredApiKey[]) => readonly StoredApiKey[] | undefined,
): void {
  try {
    changeFile(file, (place) => {
      const keys = change(readKeyFile(place));
      return keys === undefined ? undefined : `${JSON.stringify({ version: 1, keys }, null, 2)}\n`;
    });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError("failed", `The keys in ${file} cannot be changed: ${messageOf(error)}`, { cause: error });
  }
}
