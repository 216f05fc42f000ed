import { randomBytes } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { dirname, resolve } from "node:path";
import { makeFolder } from "../internal/make-folder.ts";
import type { Retention, Store } from "../store/contract.ts";
import type { OpenStore, OpenStoreOptions } from "./opened-store.ts";
import { postgresAddress } from "./postgres-address.ts";
import { readOrCreateSecret } from "./security/secret.ts";
import { messageOf, StartupError } from "./startup-error.ts";

/** The key of AES-256 is derived from it. */
const MIN_SECRET_BYTES = 32;

/** The default retention of a store in memory. */
const MEMORY_RETENTION: Retention = { maxTasks: 1000, pruneCount: 100 };

/** Opens the store that `memory:`, `sqlite:FILE` or `postgres://…` names. An open store is used as it is and not closed. */
export async function openStore(spec: string | Store, options: OpenStoreOptions): Promise<OpenStore> {
  const { secret } = options;
  if (secret !== undefined && secret.byteLength < MIN_SECRET_BYTES) {
    throw new StartupError("usage", `secret must have at least ${MIN_SECRET_BYTES} bytes.`);
  }
  if (typeof spec !== "string") {
    return {
      store: spec,
      secret: secret ?? randomBytes(32),
      storage: "in the given store",
      close: () => Promise.resolve(),
    };
  }
  if (spec === "memory:" || spec === "memory") return openMemory(options);
  if (/^postgres(?:ql)?:/.test(spec)) return openDatabase(spec, options);
  const file = /^sqlite:(?<file>.+)$/.exec(spec)?.groups?.["file"];
  if (file === undefined) {
    throw new StartupError(
      "usage",
      `The store must be memory:, sqlite:FILE or postgres://…, not ${JSON.stringify(spec)}.`,
    );
  }
  return openFile(resolve(file), options);
}

async function openMemory(options: OpenStoreOptions): Promise<OpenStore> {
  const { createMemoryStore } = await import("../store/memory/store.ts");
  const store = createMemoryStore({ retention: options.retention ?? MEMORY_RETENTION });
  const secret = options.secret ?? randomBytes(32);
  return { store, secret, storage: "in memory; lost when the server stops", close: () => store.close() };
}

async function openDatabase(spec: string, options: OpenStoreOptions): Promise<OpenStore> {
  // Loads the store only if it is used.
  const { openPostgres } = await import("./open-postgres.ts");
  const address = postgresAddress(spec, process.env);
  if (address === undefined) throw new StartupError("usage", "The store is not a PostgreSQL address.");
  return openPostgres(address, options);
}

/** The store is opened first: it makes sure that no other process owns the file, so nobody else creates the key. */
async function openFile(file: string, options: OpenStoreOptions): Promise<OpenStore> {
  makeUsable(dirname(file));
  // Loads the driver only if it is used.
  const { openSqliteStore } = await import("../store/sqlite/store.ts");
  const { durability = "full", retention } = options;
  const store = await openSqliteStore({ file, durability, ...(retention !== undefined && { retention }) });
  try {
    const secret = options.secret ?? readOrCreateSecret(`${file}.key`);
    return { store, secret, storage: file, close: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Fails before the database does, whose error would not name the folder. */
function makeUsable(folder: string): void {
  try {
    makeFolder(folder); // Only for its owner: it contains the messages of callers.
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new StartupError(
      "failed",
      `The folder ${folder} cannot be written to: ${messageOf(error)}\nMake it writable, or choose another place with --store sqlite:FILE.`,
      { cause: error },
    );
  }
}
