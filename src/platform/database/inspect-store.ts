import { StoreError, type StoreReport } from "../../store/contract.ts";
import { StartupError } from "../startup-error.ts";
import type { StorePlace } from "./store-place.ts";

export type { StoreReport } from "../../store/contract.ts";

/** Reads a store's figures without changing it. A SQLite file must have no running server. Throws a {@link StartupError} that says what to do. */
export function inspectStore(place: StorePlace): Promise<StoreReport> {
  return explained(async () => {
    if (place.kind === "postgres") {
      const { inspectPostgres } = await import("../../store/postgres/copy/open-postgres-copy.ts");
      return inspectPostgres(place.address);
    }
    const { inspectSqlite } = await import("../../store/sqlite/copy/open-sqlite-source.ts");
    return inspectSqlite(place.file);
  });
}

/** The schema version of a store before and after. */
export interface Migrated {
  readonly from: number;
  readonly to: number;
}

/** Brings a store to the schema of this release, as starting a server does. Creates it if it does not exist. */
export function migrateStore(place: StorePlace): Promise<Migrated> {
  return explained(async () => {
    const before = await inspectStore(place).catch((error: unknown) => {
      // A SQLite file that does not exist yet.
      if (place.kind === "sqlite" && error instanceof StartupError && error.message.startsWith("There is no file"))
        return { schema: 0 };
      throw error;
    });
    if (place.kind === "postgres") {
      const { migratePostgres } = await import("../../store/postgres/copy/open-postgres-copy.ts");
      await migratePostgres(place.address);
    } else {
      const { openSqliteStore } = await import("../../store/sqlite/store.ts");
      await (await openSqliteStore({ file: place.file })).close();
    }
    return { from: before.schema, to: (await inspectStore(place)).schema };
  });
}

async function explained<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError) throw new StartupError("failed", error.message, { cause: error });
    throw error;
  }
}
