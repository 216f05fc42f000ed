import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { messageOf, StartupError, systemCode } from "../startup-error.ts";

const KEY_BYTES = 32;

/**
 * The key that encrypts sensitive answers, in a file of its own that only its owner may read: a copy of the database alone does not reveal them. Created
 * on first use.
 */
export function readOrCreateSecret(file: string): Uint8Array {
  try {
    return read(file) ?? create(file);
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(
      "failed",
      `The key file ${file} cannot be used: ${messageOf(error)}\nMake it readable, or its folder writable.`,
      {
        cause: error,
      },
    );
  }
}

/** A new key. */
export function newSecret(): Uint8Array {
  return randomBytes(KEY_BYTES);
}

/** `undefined` if the file does not exist. A damaged key is an error, not replaced: a new key could not decrypt what is stored. */
function read(file: string): Uint8Array | undefined {
  try {
    const key = readFileSync(file);
    if (key.length === KEY_BYTES) return key;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
  throw new StartupError(
    "failed",
    `The key file ${file} is damaged: it must have ${KEY_BYTES} bytes.\n` +
      "Restore it from a backup. Without it, tasks with a pending sensitive answer cannot continue; delete the file to abandon those.",
  );
}

/**
 * Writes the key to another name and renames it, so that a crash leaves no incomplete key. Only the owner of the database may call this: no other process
 * creates a key at the same time.
 */
function create(file: string): Uint8Array {
  const key = newSecret();
  writeFileSync(`${file}.new`, key, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return key;
}
