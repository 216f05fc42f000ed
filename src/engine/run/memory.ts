import { parseOwnJson } from "../../internal/own-json.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { readMessage, writeMessage } from "../../protocol/serial.ts";
import type { HistoryEntry, StepRecord } from "../../store/contract.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { openSealed, type Sealer } from "../record/seal.ts";

/** What a question, a step, a sleep or a read message left behind, by the key of its place in the run. */
export type Remembered =
  | { readonly kind: "done"; readonly value?: JsonValue }
  | {
      readonly kind: "asked";
      /** The request id. */
      readonly id: string;
      readonly until?: number;
      /** The private half of the key the answer may be encrypted to, sealed. */
      readonly box?: string;
    }
  | { readonly kind: "answered"; readonly raw: JsonValue; readonly inbox?: string }
  | { readonly kind: "sealed"; readonly sealed: string }
  | { readonly kind: "unanswered" }
  | { readonly kind: "asleep"; readonly until: number }
  | { readonly kind: "message"; readonly body: string; readonly sealed?: boolean }
  | { readonly kind: "nothing" }
  /** Metadata of the task was set. `digest` stands for what was set. */
  | { readonly kind: "metadata"; readonly digest: string };

export interface MemoryOptions {
  readonly writer: TaskLogWriter;
  readonly sealer: Sealer;
  readonly steps: readonly StepRecord[];
  readonly maxSteps: number;
}

/**
 * What a run remembers from attempt to attempt. Everything is found again by name and occurrence: the second `ask("Sure?")` of a
 * run is the second one of the next attempt too.
 */
export class Memory {
  readonly #options: MemoryOptions;
  readonly #known: Map<string, Remembered>;
  readonly #occurrences = new Map<string, number>();

  constructor(options: MemoryOptions) {
    this.#options = options;
    this.#known = new Map(options.steps.map(({ key, value }) => [key, parseOwnJson<Remembered>(value)]));
  }

  /** The key of the next occurrence of this name. */
  key(kind: string, name: string): string {
    const base = `${kind}:${name}`;
    const occurrence = (this.#occurrences.get(base) ?? 0) + 1;
    this.#occurrences.set(base, occurrence);
    return `${base}#${occurrence}`;
  }

  recall(key: string): Remembered | undefined {
    return this.#known.get(key);
  }

  /** A replay will come by this message again, as an answer or by `next()`. */
  holds({ inbox, body }: HistoryEntry): boolean {
    for (const known of this.#known.values()) {
      if (known.kind === "answered" ? known.inbox === inbox : known.kind === "message" && known.body === body)
        return true;
    }
    return false;
  }

  /** Keeps it with the next commit. */
  remember(key: string, value: Remembered): void {
    const { writer, maxSteps } = this.#options;
    if (!this.#known.has(key) && this.#known.size >= maxSteps) {
      throw new TaskFailure(`Over a limit: a turn may have ${maxSteps} steps, questions and sleeps.`, {
        code: "too-many-steps",
      });
    }
    writer.remember({ key, value: JSON.stringify(value) });
    this.#known.set(key, value);
  }

  sealedAnswer(raw: JsonValue): Remembered {
    return { kind: "sealed", sealed: this.seal(raw) };
  }

  /** For `openAnswer`. */
  seal(value: JsonValue): string {
    return this.#options.sealer.seal(JSON.stringify(value), this.#context);
  }

  /** `undefined`: it cannot be opened any more. */
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

  /** `undefined`: it cannot be opened any more. */
  openMessage(record: Extract<Remembered, { kind: "message" }>): Message | undefined {
    const body = record.sealed === true ? openSealed(this.#options.sealer, record.body, this.#context) : record.body;
    return body === undefined ? undefined : readMessage(body);
  }

  get #context(): string {
    return this.#options.writer.ref.id;
  }
}
