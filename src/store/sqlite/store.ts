import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { createClock } from "../../internal/clock.ts";
import { makeFolder } from "../../internal/make-folder.ts";
import { type Retention, type Store, StoreError } from "../contract.ts";
import { type Durability, openForReading } from "./connection.ts";
import { lockHolderOf, makePrivate } from "./file-identity.ts";
import { lockOwner, type OwnerLock } from "./owner-lock.ts";
import { HotIndex } from "./read/hot-index.ts";
import { failureOf, storeError } from "./sqlite-error.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { CommitFault } from "./write/writer-messages.ts";
import { WriterThread } from "./write/writer-thread.ts";

export interface SqliteStoreOptions {
  /** Path of the file. The file and its folders are created if they do not exist. */
  readonly file: string;
  /** Default `full`. */
  readonly durability?: Durability;
  /** Default: all tasks are kept. */
  readonly retention?: Retention;
  /** The store's clock in milliseconds. Default: the system clock, read once and continued monotonically, so that setting it has no effect. */
  readonly now?: () => number;
  /** Milliseconds that a write waits for a lock of another program. Default 1000. */
  readonly busyTimeout?: number;
  /** For tests: a failure to inject into the next commit. */
  readonly fault?: () => CommitFault | undefined;
  /** For tests: maximum number of pages of the file. */
  readonly maxPages?: number;
}

/**
 * Opens a store in an SQLite file. A file has one owner at a time: a second process is refused with the process id of the owner; after a crash
 * of the owner, the next process can open it immediately. Rejects with a {@link StoreError} `unusable` that says what to do.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const file = locate(options.file);
  const lock = lockOwnerOf(file);
  try {
    const {
      durability = "full",
      retention = {},
      busyTimeout = 1000,
      maxPages,
      now = createClock().now,
      fault,
    } = options;
    const connection = { file, exclusive: lock.exclusive, durability, busyTimeout };
    const hot = new HotIndex();
    const writer = await WriterThread.start({
      ...connection,
      retention,
      ...(maxPages !== undefined && { maxPages }),
      onMoved: (tasks) => {
        for (const [task, through] of tasks) hot.drop(task, through);
      },
    });
    try {
      return new SqliteStore({ file, lock, hot, writer, now, fault, reader: openForReading(connection) });
    } catch (thrown) {
      await writer.close();
      throw storeError(failureOf(thrown, file), thrown);
    }
  } catch (thrown) {
    lock.release();
    throw withHolder(thrown, file);
  }
}

/** Adds the id of the process that locked the file to the error, if the operating system reports it. */
function withHolder(thrown: unknown, file: string): unknown {
  if (!(thrown instanceof StoreError) || thrown.code !== "busy") return thrown;
  const pid = lockHolderOf(file);
  if (pid === undefined) return thrown;
  return new StoreError("busy", `${thrown.message} It is process ${pid}.`, { cause: thrown });
}

/** The resolved path of the file: the lock is beside it. */
function locate(file: string): string {
  const path = resolve(file);
  try {
    makeFolder(dirname(path));
  } catch (thrown) {
    throw new StoreError("unusable", `The folder of ${path} cannot be created (${messageOf(thrown)}).`, {
      cause: thrown,
    });
  }
  try {
    return realpathSync(path);
  } catch {
    const place = join(realpathSync(dirname(path)), basename(path));
    // Create the file before SQLite does, readable by its owner only; SQLite gives its other files the same mode. If this fails, opening reports why.
    makePrivate(place);
    return place;
  }
}

function lockOwnerOf(file: string): OwnerLock {
  try {
    return lockOwner(file);
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    const advice = "Check that you may write to the folder.";
    throw new StoreError("unusable", `${file}.lock cannot be written (${messageOf(thrown)}). ${advice}`, {
      cause: thrown,
    });
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
