import type { Submitted } from "../api.ts";

/** An idempotent send that this process has not stored yet. */
interface PendingSend {
  readonly digest: string;
  readonly result: Promise<Submitted>;
}

/** By scope and message id. */
export type PendingSends = Map<string, PendingSend>;
