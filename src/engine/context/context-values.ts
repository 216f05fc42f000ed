import { parseOwnJson } from "../../internal/own-json.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { type ContextValue, type ContextWrite, type Outcome, type Store, StoreError } from "../../store/contract.ts";
import type { ContextValues } from "../agent/agent.ts";
import { storableCopy } from "../agent/output.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import { limitFailure } from "../log/limit-failure.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { abortOf, type WriterLoss } from "../log/writer-contract.ts";
import type { CallResults } from "./call-results.ts";

/** How context values are read and written. */
export interface ContextStorage {
  readonly store: Pick<Store, "contextValues">;
  /** Commits the operation with the next group. */
  readonly write: (operation: ContextWrite) => Promise<Outcome>;
  readonly maxBytes: number;
}

export interface ContextValuesOptions {
  readonly writer: TaskLogWriter;
  readonly storage: ContextStorage;
  readonly results: () => CallResults;
  /** Runs a call of the agent's code. */
  readonly guarded: <T>(work: () => Promise<T>) => Promise<T>;
  /** Throws if the attempt may not write any more. */
  readonly requireOpen: () => void;
}

interface Change {
  /** The stored JSON; absent: the value is deleted. */
  readonly value: string | undefined;
  /** The version that the value must have; absent: any. */
  readonly expected?: number;
  /** The key of the call among the stored results. */
  readonly call: string;
}

const MAX_KEY = 200;
const MAX_TRIES = 20;

/** `task.context` of one attempt. Its calls run one after the other, so a `get` sees an earlier `set` that was not awaited. */
export class StoredContextValues implements ContextValues {
  readonly #options: ContextValuesOptions;
  /** Settled when all calls so far are done. Never rejects. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ContextValuesOptions) {
    this.#options = options;
  }

  get(key: string): Promise<JsonValue | undefined> {
    return this.#call("get", key, async (call) => {
      const current = await this.#read(key);
      this.#options.requireOpen();
      const value = current === undefined ? undefined : parseOwnJson<JsonValue>(current.value);
      this.#options.results().remember(call, value === undefined ? {} : { value });
      return value;
    });
  }

  set(key: string, value: JsonValue): Promise<void> {
    return this.#call("set", key, async (call) => {
      const text = storedText(value);
      if (text === undefined) throw new TypeError("context.set() needs a value; use delete() to remove one.");
      await this.#write(key, { value: text, call });
    });
  }

  delete(key: string): Promise<void> {
    return this.#call("delete", key, async (call) => {
      await this.#write(key, { value: undefined, call });
    });
  }

  update(
    key: string,
    change: (current: JsonValue | undefined) => JsonValue | undefined,
  ): Promise<JsonValue | undefined> {
    return this.#call("update", key, async (call) => {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const current = await this.#read(key);
        const text = storedText(change(current && parseOwnJson<JsonValue>(current.value)));
        const outcome = await this.#write(key, { value: text, expected: current?.version ?? 0, call });
        if (outcome === "ok") return text === undefined ? undefined : parseOwnJson<JsonValue>(text);
      }
      throw new TaskFailure(`Other tasks have changed the context value ${JSON.stringify(key)} ${MAX_TRIES} times.`, {
        code: "context-conflict",
      });
    });
  }

  /** Runs a call after the earlier ones, unless its result is stored. */
  #call<T>(kind: string, key: string, work: (call: string) => Promise<T>): Promise<T> {
    return this.#options.guarded(() => {
      requireKey(key);
      const results = this.#options.results();
      const call = results.key(`context-${kind}`, key);
      const known = results.recall(call);
      // Safe cast: the same call returned this value in an earlier attempt.
      if (known !== undefined) return Promise.resolve(known.value as T);
      const result = this.#last.then(() => work(call));
      this.#last = result.catch(() => {});
      return result;
    });
  }

  async #read(key: string): Promise<ContextValue | undefined> {
    const { storage, writer } = this.#options;
    const values = await storage.store.contextValues(writer.ref.scope, writer.ref.contextId);
    return values.find((value) => value.key === key);
  }

  /** Writes the value and the result of the call in one transaction, after everything that the task has written so far. */
  async #write(key: string, { value, expected, call }: Change): Promise<"ok" | "conflict"> {
    const { writer, storage, results, requireOpen } = this.#options;
    // Only a stored task has a lease; and no result of an earlier call may be lost while this one is kept.
    await writer.flush();
    requireOpen();
    const operation: ContextWrite = {
      kind: "context-write",
      task: writer.ref.id,
      epoch: writer.epoch,
      key,
      ...(value !== undefined && { value }),
      ...(expected !== undefined && { expected }),
      maxBytes: storage.maxBytes,
      step: results().record(call, value === undefined ? {} : { value: parseOwnJson<JsonValue>(value) }),
    };
    const { status } = await this.#commit(operation);
    if (status === "ok" || status === "conflict") return status;
    if (status === "full") {
      throw limitFailure(
        "context-too-large",
        `the keys and values of a context may have at most ${storage.maxBytes} bytes (maxContextBytes)`,
      );
    }
    throw this.#lost({ kind: "lease-lost" });
  }

  async #commit(operation: ContextWrite): Promise<Outcome> {
    try {
      return await this.#options.storage.write(operation);
    } catch (error) {
      throw error instanceof StoreError ? this.#lost({ kind: "store-unavailable", error }) : error;
    }
  }

  /** The task must be run again by the node that claims it next. */
  #lost(loss: WriterLoss): Error {
    this.#options.writer.lose(loss);
    return abortOf(loss);
  }
}

function storedText(value: JsonValue | undefined): string | undefined {
  const copy = storableCopy(value);
  return copy === undefined ? undefined : JSON.stringify(copy);
}

function requireKey(key: unknown): void {
  if (typeof key !== "string" || key === "" || key.length > MAX_KEY || !key.isWellFormed())
    throw new TypeError(`A key of task.context must be a string of 1 to ${MAX_KEY} characters.`);
}
