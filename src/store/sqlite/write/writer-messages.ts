import type { DueTasks, DueWebhook, Retention } from "../../contract.ts";
import type { ConnectionOptions } from "../connection.ts";
import type { Packed } from "../row/packed.ts";
import type { PackedOutcomes } from "../row/packed-outcomes.ts";
import type { StoreFailure } from "../sqlite-error.ts";
import type { ClaimRequest } from "./claimer.ts";
import type { FileTotals } from "./totals.ts";

// Messages between the main thread and the writer thread. Requests are answered in order.

/** The data that the writer thread starts with. */
export interface WriterData extends ConnectionOptions {
  readonly retention: Retention;
  /** For tests: maximum number of pages of the file. */
  readonly maxPages?: number;
}

/** For tests: an injected failure. `io-lost` and `io-kept` fail the COMMIT before or after it took effect. */
export type CommitFault = "busy" | "full" | "io-lost" | "io-kept" | "death";

export type WriterRequest =
  | {
      readonly kind: "commit";
      readonly commands: Packed;
      /** The living nodes, for claims. */
      readonly living: readonly string[];
      readonly fault?: CommitFault | undefined;
    }
  | { readonly kind: "claim-due"; readonly claim: ClaimRequest }
  | { readonly kind: "claim-webhooks"; readonly claim: ClaimRequest }
  | { readonly kind: "leave"; readonly node: string }
  | { readonly kind: "sweep"; readonly now: number }
  | { readonly kind: "probe" }
  | { readonly kind: "totals" }
  | { readonly kind: "close" };

export type WriterReply =
  | {
      readonly kind: "committed";
      readonly outcomes: PackedOutcomes;
      /** Pairs: the index of an operation and the row it added to the hot log. */
      readonly rows: readonly number[];
      /** Whether finished tasks were deleted to make room. */
      readonly deleted: boolean;
    }
  | { readonly kind: "claimed-due"; readonly due: DueTasks }
  | { readonly kind: "claimed-webhooks"; readonly webhooks: readonly DueWebhook[] }
  | { readonly kind: "totals"; readonly totals: FileTotals }
  | { readonly kind: "done"; readonly count: number }
  | { readonly kind: "failed"; readonly failure: StoreFailure };

/** Messages of the writer thread that answer no request. */
export type WriterNotice =
  | { readonly kind: "ready" }
  | { readonly kind: "unusable"; readonly failure: StoreFailure }
  /** Rows left the hot log: pairs of a task and the last row that left. */
  | { readonly kind: "moved"; readonly tasks: readonly (readonly [string, number])[] };
