import type { Logger } from "../../internal/logger.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";

/** A stored value of a call. */
interface StoredValue {
  readonly kind: "done";
  readonly value?: JsonValue;
}

/** What calls use of the attempt that makes them. */
export interface CallsHost {
  readonly writer: TaskLogWriter;
  readonly run: {
    readonly signal: AbortSignal;
    readonly serverId: string;
    readonly logger: Logger;
    readonly observer: { readonly trace: TraceContext | undefined };
    /** Milliseconds since 1970. */
    now(): number;
    /** Calls back at this time. Returns a function that prevents it. */
    timer(at: number, work: () => void): () => void;
    /** Why nothing may be written any more; `undefined` while it may. */
    closed(): Error | undefined;
    /** While `busy` is not 0, the run is not parked. */
    waits(): { busy: number };
  };
  readonly memory: {
    key(kind: string, name: string): string;
    recall(key: string): { readonly kind: string } | undefined;
    remember(key: string, value: StoredValue): void;
    seal(value: JsonValue): string;
    openAnswer(sealed: string): JsonValue | undefined;
  };
  /** Throws if the attempt may not write any more. */
  readonly requireOpen: () => void;
}

/** The stored value under a key; `undefined`: there is none. */
export function storedValue({ memory }: Pick<CallsHost, "memory">, key: string): JsonValue | undefined {
  const known = memory.recall(key);
  // Safe cast: records of this kind are written by `remember`.
  return known?.kind === "done" ? (known as StoredValue).value : undefined;
}
