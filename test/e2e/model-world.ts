import { DatabaseSync } from "node:sqlite";
import {
  type Answer,
  type ModelServer,
  openModelServer,
  type WireMessage,
} from "../../src/adapters/models/test/model-server.ts";
import { type Ledger, openLedger } from "./ledger.ts";

/** A model call as the model received it. `number` counts the model calls of its conversation, from 1. */
export interface SeenCall {
  readonly task: string;
  readonly number: number;
}

/** What is outside of the killed server: a model that counts its calls, and a ledger of payments. */
export class ModelWorld implements AsyncDisposable {
  readonly seen: SeenCall[] = [];
  /** The text of the latest answer, by task and number of the call. */
  readonly #texts = new Map<string, string>();
  readonly #model: ModelServer;
  readonly #ledger: Ledger;

  private constructor(model: ModelServer, ledger: Ledger) {
    this.#model = model;
    this.#ledger = ledger;
  }

  static async open(): Promise<ModelWorld> {
    const model = await openModelServer((messages) => world.#answer(messages));
    const world = new ModelWorld(model, await openLedger());
    return world;
  }

  get payments(): ReadonlyMap<string, number> {
    return this.#ledger.payments;
  }

  get environment(): Readonly<Record<string, string>> {
    return { CLERK_BASE_URL: this.#model.url, LEDGER_URL: this.#ledger.url };
  }

  /** How many tool calls were cut off and not run again; the model gets an error for each. */
  get cutOffTools(): number {
    return new Set(
      this.#model.calls.flatMap((messages) =>
        messages
          .filter(
            ({ role, content }) =>
              role === "tool" && String(content).includes("The server stopped while this tool ran"),
          )
          .map((message) => `${taskOf(messages)}/${message.tool_call_id}`),
      ),
    ).size;
  }

  /** The text that a task must have at the end: of each call the answer that was given last. */
  expectedText(task: string): string {
    return [1, 2, 3, 4, 5].map((number) => this.#texts.get(`${task}/${number}`)).join("\n\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ledger[Symbol.asyncDispose]();
    await this.#model[Symbol.asyncDispose]();
  }

  /** Five calls: a tool that may be repeated, one that may not, both at once, the second again, and the answer. */
  #answer(messages: readonly WireMessage[]): Answer {
    const task = taskOf(messages);
    const number = messages.filter(({ role }) => role === "assistant").length + 1;
    this.seen.push({ task, number });
    const repetitions = this.seen.filter((call) => call.task === task && call.number === number).length;
    // Every other task gets other words when a call is repeated.
    const word = Number(task) % 2 === 0 && repetitions > 1 ? `again ${repetitions}` : "first";
    const text = [`Call ${number} `, "of ", `task ${task}, `, `${word}.`];
    this.#texts.set(`${task}/${number}`, text.join(""));
    const use = (name: string, input: object) => ({ id: `${name}-${number}`, name, input: JSON.stringify(input) });
    const calls = [
      [use("look", { q: "a" })],
      [use("pay", { n: 1 })],
      [use("look", { q: "b" }), use("pay", { n: 2 })],
      [use("pay", { n: 3 })],
      [],
    ][number - 1];
    return { text, calls: calls ?? [], pause: 4 };
  }
}

function taskOf(messages: readonly WireMessage[]): string {
  return String(messages.find(({ role }) => role === "user")?.content);
}

/** The numbers of the stored model calls of all tasks, from the file of a server that does not run. */
export function storedModelCalls(file: string): ReadonlyMap<string, readonly number[]> {
  const database = new DatabaseSync(file);
  try {
    const rows = database
      .prepare(
        "SELECT task.id AS id, step.key AS key FROM step JOIN task ON task.pk = step.task WHERE step.key LIKE 'step:model#%'",
      )
      .all();
    const numbers = new Map<string, number[]>();
    for (const { id, key } of rows)
      numbers.set(String(id), [...(numbers.get(String(id)) ?? []), Number(String(key).slice("step:model#".length))]);
    return numbers;
  } finally {
    database.close();
  }
}
