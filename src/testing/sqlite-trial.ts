import type { Store } from "../store/contract.ts";
import { openSqliteStore, type SqliteStoreOptions } from "../store/sqlite/store.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** SQLite stores for one test: `await using trial = await sqliteTrial()` closes them and removes their files at the end. */
export interface SqliteTrial extends AsyncDisposable {
  readonly folder: TemporaryFolder;
  /** The default file of `open`. */
  readonly file: string;
  /** Opens a store. Default durability: `process`, which is faster but does not survive power cuts. */
  open(options?: Partial<SqliteStoreOptions>): Promise<Store>;
}

export async function sqliteTrial(): Promise<SqliteTrial> {
  const folder = await temporaryFolder();
  const opened: Store[] = [];
  const file = folder.file("store.db");
  return {
    folder,
    file,
    async open(options = {}) {
      const store = await openSqliteStore({ file, durability: "process", busyTimeout: 10, ...options });
      opened.push(store);
      return store;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((store) => store.close()));
      await folder[Symbol.asyncDispose]();
    },
  };
}
