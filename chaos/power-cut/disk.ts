/** A change of a file: bytes at an offset, or a new length. */
export type FileChange =
  | { readonly kind: "write"; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly length: number };

/** Bytes that a disk writes whole or not at all. */
const SECTOR = 512;

/**
 * What a disk has of a file when the power fails: every change before the last `fsync`, and any part of the changes after it, because the operating
 * system writes them in any order, and a sector at a time.
 */
export class DiskFile {
  #stored: Buffer = Buffer.alloc(0);
  #unsynced: FileChange[] = [];

  add(change: FileChange): void {
    this.#unsynced.push(change);
  }

  /** How many changes are not certain to be on the disk. */
  get unsynced(): number {
    return this.#unsynced.length;
  }

  /** The first `count` unsynced changes are on the disk from now on. */
  sync(count: number): void {
    for (const change of this.#unsynced.splice(0, count)) this.#stored = applied(this.#stored, change);
  }

  /** The content after a power failure. `random` decides which of the unsynced changes are on the disk. */
  afterPowerCut(random: () => number): Buffer {
    let content = this.#stored;
    for (const change of this.#unsynced) {
      const kept = random();
      if (kept < 0.4) continue;
      content = applied(content, kept < 0.7 ? torn(change, random) : change);
    }
    return content;
  }
}

/** The first sectors of a write. */
function torn(change: FileChange, random: () => number): FileChange {
  if (change.kind === "truncate") return change;
  const sectors = Math.floor((random() * change.bytes.length) / SECTOR);
  return { ...change, bytes: change.bytes.subarray(0, sectors * SECTOR) };
}

function applied(content: Buffer, change: FileChange): Buffer {
  if (change.kind === "truncate") {
    const shortened = Buffer.alloc(change.length);
    content.copy(shortened);
    return shortened;
  }
  if (change.bytes.length === 0) return content;
  const end = change.offset + change.bytes.length;
  let target = content;
  if (end > content.length) {
    target = Buffer.alloc(end);
    content.copy(target);
  } else {
    target = Buffer.from(content);
  }
  change.bytes.copy(target, change.offset);
  return target;
}
