import { StoreError } from "../../store/contract.ts";
import { type CopyOptions, type CopyResult, copyRecords } from "../../store/copy/copy-records.ts";
import type { StoreSource, StoreTarget } from "../../store/copy/records.ts";
import { StartupError } from "../startup-error.ts";
import { placeText, type StorePlace } from "./store-place.ts";

export type { CopyProgress, CopyResult } from "../../store/copy/copy-records.ts";
export { RECORD_KINDS } from "../../store/copy/records.ts";

/**
 * Copies a store that no server uses into an empty one, all or nothing: see `copyRecords`. Throws a {@link StartupError} that says what to do; then the
 * target is as empty as before.
 */
export async function copyStore(from: StorePlace, to: StorePlace, options: CopyOptions): Promise<CopyResult> {
  let source: StoreSource | undefined;
  let target: StoreTarget | undefined;
  try {
    source = await openSource(from);
    target = await openTarget(to);
    return await copyRecords(source, target, options);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new StartupError("failed", `Nothing was copied. ${error.message}${adviceFor(error)}`, { cause: error });
  } finally {
    await target?.close();
    await source?.close();
  }
}

/** A server that continues would run the same tasks as the copy does. */
function adviceFor({ message }: StoreError): string {
  return message.includes("is in use by")
    ? "\nA copy needs a stopped server: its tasks continue where the copy is, and must not run in both stores. Stop it with SIGTERM, copy, then start it with the new store."
    : "";
}

async function openSource(place: StorePlace): Promise<StoreSource> {
  if (place.kind === "sqlite") {
    const { openSqliteSource } = await import("../../store/sqlite/copy/open-sqlite-source.ts");
    return openSqliteSource(place.file);
  }
  const { openPostgresSource } = await import("../../store/postgres/copy/open-postgres-copy.ts");
  return openPostgresSource(place.address);
}

async function openTarget(place: StorePlace): Promise<StoreTarget> {
  if (place.kind === "sqlite") {
    const { openSqliteTarget } = await import("../../store/sqlite/copy/open-sqlite-target.ts");
    return openSqliteTarget(place.file);
  }
  const { openPostgresTarget } = await import("../../store/postgres/copy/open-postgres-copy.ts");
  return openPostgresTarget(place.address);
}

/** Whether both name the same store. */
export function isSamePlace(one: StorePlace, other: StorePlace): boolean {
  return placeText(one) === placeText(other);
}
