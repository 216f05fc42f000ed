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
 * Changes a private file under a lock; creates it and its folder if necessary. No other process changes it meanwhile, and a crash leaves either the old or the
 * new file. `change` gets the real path of the file and returns its new text; `undefined` leaves the file as it is. Blocks while another
 * process holds the lock, usually for milliseconds.
 */
export function changeFile(file: string, change: (place: string) => string | undefined): void {
  makeFolder(dirname(file));
  // Replace the target of a symbolic link, not the link: readers of the target must see the change.
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

/** A file that does not exist yet is its own place. */
function placeOf(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return file;
    throw error;
  }
}

/** Writes a draft beside the file, syncs it, and renames it over the file. */
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
  // Windows cannot open folders.
  if (process.platform === "win32") return;
  // Sync the folder too, so that the rename survives a power failure: a revoked key must not come back.
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Keeps the file's group and mode, so that a server that runs as another user can still read it. Never readable for all. */
function keepReaders(descriptor: number, file: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  const { uid, gid } = before ?? statSync(dirname(file));
  const isRoot = process.getuid?.() === 0;
  if (before !== undefined || isRoot) {
    try {
      fchownSync(descriptor, isRoot ? uid : -1, gid);
    } catch (error) {
      // Without the permission to change the group, the file stays in the writer's group.
      if (systemCode(error) !== "EPERM") throw error;
      return;
    }
  }
  if (before !== undefined) fchmodSync(descriptor, 0o600 | (before.mode & 0o060));
}

/** Milliseconds after which a lock counts as abandoned. Changes take a few milliseconds. */
const STALE = 5000;
/** Together with `PAUSE` (milliseconds): 10 s, longer than `STALE`. */
const TRIES = 500;
const PAUSE = 20;

/** The lock is a file that only one process can create. Throws the system's error if it stays taken. */
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
  // A lock from the future was made before the clock was set back.
  return stats !== undefined && Math.abs(Date.now() - stats.mtimeMs) > STALE;
}
