import type { JsonValue } from "../../protocol/json.ts";
import type { StepRecord } from "../../store/contract.ts";

/** The result that an earlier attempt has stored for a call. */
export interface CallResult {
  /** Absent: the call returned nothing. */
  readonly value?: JsonValue;
}

/** The stored results of the calls of a turn. The calls in this folder use them to return the same in a replay. */
export interface CallResults {
  /** The key of the next call with this kind and name, made inside or outside of a step. */
  key(kind: string, name: string): string;
  /** `undefined`: no attempt has stored a result under this key. */
  recall(key: string): CallResult | undefined;
  /** Stores a result with the next commit of the task. Throws a `TaskFailure` over a limit. */
  remember(key: string, result: CallResult): void;
  /** The record of a result, for an operation that stores it in its own transaction. Throws a `TaskFailure` over a limit. */
  record(key: string, result: CallResult): StepRecord;
}
