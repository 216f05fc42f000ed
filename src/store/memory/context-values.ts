import type { ContextId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { ContextValue, ContextWrite, Outcome } from "../contract.ts";
import { CONFLICT, FULL } from "../outcomes.ts";

interface Context {
  /** The number of changes so far. */
  changes: number;
  readonly values: Map<string, ContextValue>;
}

/** The values of all contexts in the memory store. */
export class ContextValues {
  readonly #contexts = new Map<string, Context>();

  of(scope: Scope, contextId: ContextId): readonly ContextValue[] {
    const values = this.#contexts.get(contextKey(scope, contextId))?.values.values() ?? [];
    return Array.from(values).sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  /** The caller has checked the lease of the task. */
  write(scope: Scope, contextId: ContextId, { key, value, expected, maxBytes }: ContextWrite): Outcome {
    const context: Context = this.#contexts.get(contextKey(scope, contextId)) ?? { changes: 0, values: new Map() };
    const { values } = context;
    if (expected !== undefined && expected !== (values.get(key)?.version ?? 0)) return CONFLICT;
    if (value !== undefined && bytesWith(values, key, value) > maxBytes) return FULL;
    context.changes += 1;
    const version = context.changes;
    if (value === undefined) values.delete(key);
    else values.set(key, { key, value, version });
    this.#contexts.set(contextKey(scope, contextId), context);
    return { status: "ok", version };
  }

  has(scope: Scope, contextId: ContextId): boolean {
    return this.#contexts.has(contextKey(scope, contextId));
  }

  /** The last task of the context was deleted. */
  delete(scope: Scope, contextId: ContextId): void {
    this.#contexts.delete(contextKey(scope, contextId));
  }
}

/** Bytes of the context's keys and values if `key` had this value. */
function bytesWith(values: ReadonlyMap<string, ContextValue>, key: string, value: string): number {
  let bytes = Buffer.byteLength(key) + Buffer.byteLength(value);
  for (const other of values.values())
    if (other.key !== key) bytes += Buffer.byteLength(other.key) + Buffer.byteLength(other.value);
  return bytes;
}

function contextKey({ agent, tenant, owner }: Scope, contextId: ContextId): string {
  return JSON.stringify([agent, tenant, owner, contextId]);
}
