import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../../internal/make-folder.ts";
import { systemCode } from "../startup-error.ts";

/**
 * Changes a file that is for few eyes, which is made if need be, with its folder. Nobody else changes it meanwhile, in this process or
 * another, and a crash leaves the old file or the new one. `change` is given where the file really is, and returns its new text;
 * `undefined`: it stays as it is. Blocks while somebody else is at it, which takes milliseconds.
 */
export function changeFile(file: string, change: (place: string) => string | undefined): void {
  makeFolder(dirname(file));
  // What stands for another file is not to be replaced: whoever reads that one would not notice.
  const place = placeOf(file);
  const lock = `${place}.lock`;
  take(lock);
  try {
    const text = change(place);
    if (text !== undefined) replace(place, text);
  } finally {
    rmSync(lock, { force: true });
  }
}

function placeOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return file;
    throw error;
  }
}

function replace(file: string, text: string): void {
  const draft = `${file}.${process.pid}.new`;
  try {
    rmSync(draft, { force: true });
    const descriptor = openSync(draft, "wx", 0o600);
    try {
      writeFileSync(descriptor, text);
      keepReaders(descriptor, file);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  // Folders cannot be opened there.
  if (process.platform === "win32") return;
  // Only with its folder is the new name on the disk: what was revoked must not come back after a power cut.
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Who reads the file, such as a server that runs as another user, is to read the next one too; but never everybody. */
function keepReaders(descriptor: number, file: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  const { uid, gid } = before ?? statSync(dirname(file));
  const isRoot = process.getuid?.() === 0;
  if (before !== undefined || isRoot) {
    try {
      fchownSync(descriptor, isRoot ? uid : -1, gid);
    } catch (error) {
      // Not everybody may give files to every group; the file is then its writer's own.
      if (systemCode(error) !== "EPERM") throw error;
      return;
    }
  }
  if (before !== undefined) fchmodSync(descriptor, 0o600 | (before.mode & 0o060));
}

/** Milliseconds after which whoever holds a lock is taken for dead: what is done under it takes a few. */
const STALE = 5000;
const TRIES = 500;
const PAUSE = 20;

function take(lock: string): void {
  for (let tries = 0; ; tries += 1) {
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return;
    } catch (error) {
      if (systemCode(error) !== "EEXIST" || tries === TRIES) throw error;
    }
    if (isStale(lock)) rmSync(lock, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
  }
}

function isStale(lock: string): boolean {
  const stats = statSync(lock, { throwIfNoEntry: false });
  // One from the future was made before somebody set the clock back.
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) > STALE;
}
