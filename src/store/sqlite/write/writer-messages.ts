import type { Retention } from "../../contract.ts";
import type { ConnectionOptions } from "../connection.ts";
import type { Packed } from "../row/packed.ts";
import type { PackedOutcomes } from "../row/packed-outcomes.ts";
import type { StoreFailure } from "../sqlite-error.ts";

/** What the two threads say to each other. Requests are answered in order. */

export interface WriterData extends ConnectionOptions {
  readonly retention: Retention;
  /** For tests: the file may not grow beyond so many pages. */
  readonly maxPages?: number;
}

/** For tests: what shall go wrong. `io-lost` and `io-kept` break the COMMIT before or after it took effect. */
export type CommitFault = "busy" | "full" | "io-lost" | "io-kept" | "death";

export type WriterRequest =
  | {
      readonly kind: "commit";
      readonly commands: Packed;
      /** The nodes that live now; matters to claims. */
      readonly living: readonly string[];
      readonly fault?: CommitFault | undefined;
    }
  | { readonly kind: "leave"; readonly node: string }
  | { readonly kind: "sweep"; readonly now: number }
  | { readonly kind: "probe" }
  | { readonly kind: "close" };

export type WriterReply =
  | {
      readonly kind: "committed";
      readonly outcomes: PackedOutcomes;
      /** Pairs: the index of an operation and the row of the hot log it became. */
      readonly rows: readonly number[];
    }
  | { readonly kind: "done"; readonly count: number }
  | { readonly kind: "failed"; readonly failure: StoreFailure };

/** Sent unasked. */
export type WriterNotice =
  | { readonly kind: "ready" }
  | { readonly kind: "unusable"; readonly failure: StoreFailure }
  /** Rows that are no longer in the hot log: pairs of task and the last row that is gone. */
  | { readonly kind: "moved"; readonly tasks: readonly (readonly [string, number])[] };
