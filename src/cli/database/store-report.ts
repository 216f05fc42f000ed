import { inspectStore, type StoreReport } from "../../platform/database/inspect-store.ts";
import { placeText, storePlace } from "../../platform/database/store-place.ts";
import { operatorFileOf, readOperatorFile } from "../../platform/observe/operator-file.ts";
import type { CliContext } from "../context.ts";
import { OperatorError, operatorClient } from "../session/operator-client.ts";

/** The figures of a store, and where it is. */
export interface LocatedReport {
  readonly report: StoreReport;
  /** Without a password. */
  readonly text: string;
}

/**
 * Reads the figures of a store: of PostgreSQL directly; of a SQLite file through the operator API of the server that owns it, or from the file if none
 * is running. `url` names a running server. Throws a `StartupError` that says what to do.
 */
export async function readStoreReport(
  flags: { readonly store: string; readonly url?: string | undefined },
  context: CliContext,
): Promise<LocatedReport> {
  const { store, url } = flags;
  const place = storePlace(store, context);
  const text = placeText(place);
  const file = operatorFileOf(store, context.cwd);
  const address = url ?? (file === undefined ? undefined : readOperatorFile(file)?.url);
  if (address === undefined) return { report: await inspectStore(place), text };
  const client = operatorClient({ store, ...(url !== undefined && { url }) }, context);
  try {
    const answer = await client.get("/store");
    return { report: answer["store"] as StoreReport, text }; // Safe: the server of this store wrote it.
  } catch (error) {
    // The address in the file is that of the last server, which may have ended.
    const isGone = error instanceof OperatorError && error.reason === "absent";
    if (url !== undefined || !isGone) throw error;
    return { report: await inspectStore(place), text };
  }
}
