import { randomBytes } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { messageOf, StartupError, systemCode } from "../startup-error.ts";

const KEY_BYTES = 32;

/**
 * The key that sensitive answers are sealed with, kept in a file of its own that only its owner may read, so that a copy
 * of the database alone gives nothing away. Made on first use.
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
    `The key file ${file} is damaged: it must hold ${KEY_BYTES} bytes.\n` +
      "Put it back from a backup. Without it, tasks that wait with a sensitive answer cannot go on; delete it to give those up.",
  );
}

/**
 * Written whole under another name and then moved, so that a crash leaves no half key. To be called by the database's owner
 * only: nobody else makes one at the same time.
 */
function create(file: string): Uint8Array {
  const key = randomBytes(KEY_BYTES);
  writeFileSync(`${file}.new`, key, { mode: 0o600, flush: true });
  renameSync(`${file}.new`, file);
  return key;
}
