import { parseOwnJson } from "../../internal/own-json.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage, writeMessage } from "../../protocol/serial.ts";
import type { HistoryEntry, StepRecord } from "../../store/contract.ts";
import { limitFailure } from "../log/limit-failure.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { openSealed, type Sealer } from "../record/seal.ts";

/** The stored result of a call of the agent's code: a step, a question, a sleep, a message that `next()` read, a change of metadata. */
export type Remembered =
  /** The step returned `value`; absent: nothing. */
  | { readonly kind: "done"; readonly value?: JsonValue }
  | {
      readonly kind: "asked";
      /** The request id. */
      readonly id: string;
      readonly until?: number;
      /** The sealed private key. Callers may encrypt the answer with its public key. */
      readonly box?: string;
    }
  /** `inbox`: the entry that answered, unless the entry answers another open question too. */
  | { readonly kind: "answered"; readonly raw: JsonValue; readonly inbox?: string }
  /** The encrypted answer of a sensitive question. */
  | { readonly kind: "sealed"; readonly sealed: string }
  /** No answer arrived in time, and the run continued. */
  | { readonly kind: "unanswered" }
  | { readonly kind: "asleep"; readonly until: number }
  | { readonly kind: "message"; readonly body: string; readonly sealed?: boolean }
  /** `next()` found no message; or `requireAuth` was answered outside of the protocol. */
  | { readonly kind: "nothing" }
  /** `setMetadata` was called. `digest`: fingerprint of its argument. */
  | { readonly kind: "metadata"; readonly digest: string };

export interface MemoryOptions {
  readonly writer: TaskLogWriter;
  readonly sealer: Sealer;
  /** The stored results of earlier attempts. */
  readonly steps: readonly StepRecord[];
  readonly maxSteps: number;
}

/**
 * The stored results of a turn, which a later attempt uses instead of making the same calls again. A result is found by the name and the
 * occurrence of its call: the result of the second `ask("Sure?")` belongs to the second `ask("Sure?")` of the next attempt.
 */
export class Memory {
  readonly #options: MemoryOptions;
  readonly #known: Map<string, Remembered>;
  readonly #occurrences = new Map<string, number>();

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#known = new Map(options.steps.map(({ key, value }) => [key, parseOwnJson<Remembered>(value)]));
  }

  /** The key of the next call with this kind and name. Call it once per call, in the order of the calls. */
  key(kind: string, name: string): string {
    const base = `${kind}:${name}`;
    const occurrence = (this.#occurrences.get(base) ?? 0) + 1;
    this.#occurrences.set(base, occurrence);
    return `${base}#${occurrence}`;
  }

  recall(key: string): Remembered | undefined {
    return this.#known.get(key);
  }

  /** Whether a stored result contains the message, so that a replay adds it to the history when it comes to that result. */
  holds({ inbox, body }: HistoryEntry): boolean {
    for (const known of this.#known.values()) {
      if (known.kind === "answered" ? known.inbox === inbox : known.kind === "message" && known.body === body)
        return true;
    }
    return false;
  }

  /** Stores a result with the next commit. Throws a `TaskFailure` over a limit. */
  remember(key: string, value: Remembered): void {
    this.#requireRoom(key);
    this.#options.writer.remember({ key, value: JSON.stringify(value) });
    this.#known.set(key, value);
  }

  /** The record of a result, for an operation that stores it in its own transaction. Throws a `TaskFailure` over a limit. */
  record(key: string, value: Remembered): StepRecord {
    this.#requireRoom(key);
    this.#known.set(key, value);
    return { key, value: JSON.stringify(value) };
  }

  #requireRoom(key: string): void {
    const { maxSteps } = this.#options;
    if (!this.#known.has(key) && this.#known.size >= maxSteps) {
      throw limitFailure(
        "too-many-steps",
        `a turn may have at most ${maxSteps} steps, questions and sleeps (maxSteps)`,
      );
    }
  }

  sealedAnswer(raw: JsonValue): Remembered {
    return { kind: "sealed", sealed: this.seal(raw) };
  }

  /** Encrypts a value; `openAnswer` decrypts it. */
  seal(value: JsonValue): string {
    return this.#options.sealer.seal(JSON.stringify(value), this.#context);
  }

  /** `undefined`: it was encrypted with a secret that is not known any more. */
  openAnswer(sealed: string): JsonValue | undefined {
    const text = openSealed(this.#options.sealer, sealed, this.#context);
    return text === undefined ? undefined : parseOwnJson<JsonValue>(text);
  }

  messageRecord(message: Message, sealed: boolean): Remembered {
    const body = writeMessage(message);
    return sealed
      ? { kind: "message", body: this.#options.sealer.seal(body, this.#context), sealed }
      : { kind: "message", body };
  }

  /** `undefined`: it was encrypted with a secret that is not known any more. */
  openMessage(record: Extract<Remembered, { kind: "message" }>): Message | undefined {
    const body = record.sealed === true ? openSealed(this.#options.sealer, record.body, this.#context) : record.body;
    return body === undefined ? undefined : readMessage(body);
  }

  get #context(): string {
    return this.#options.writer.ref.id;
  }
}
