import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { text as textOfBody } from "node:stream/consumers";
import {
  type Answer,
  type ModelServer,
  openModelServer,
  type WireMessage,
} from "../../src/adapters/models/test/model-server.ts";

/** A model call as the model received it. `number` counts the model calls of its conversation, from 1. */
export interface SeenCall {
  readonly task: string;
  readonly number: number;
}

/** What is outside of the killed server: a model that counts its calls, and a ledger of payments. */
export class ModelWorld implements AsyncDisposable {
  readonly seen: SeenCall[] = [];
  /** How often each payment was made, by `task/n`. */
  readonly payments: Map<string, number> = new Map<string, number>();
  /** The text of the latest answer, by task and number of the call. */
  readonly #texts = new Map<string, string>();
  readonly #model: ModelServer;
  readonly #ledger: Server;

  private constructor(model: ModelServer, ledger: Server) {
    this.#model = model;
    this.#ledger = ledger;
  }

  static async open(): Promise<ModelWorld> {
    const model = await openModelServer((messages) => world.#answer(messages));
    const ledger = createServer((request, response) => {
      void textOfBody(request).then((body) => {
        const { task, n }: { task: string; n: number } = JSON.parse(body);
        world.payments.set(`${task}/${n}`, (world.payments.get(`${task}/${n}`) ?? 0) + 1);
        // The effect is there before the answer, so that kills come in between.
        setTimeout(() => response.end(), 15);
      });
    });
    await new Promise<void>((resolve) => void ledger.listen(0, "127.0.0.1", resolve));
    const world = new ModelWorld(model, ledger);
    return world;
  }

  get environment(): Readonly<Record<string, string>> {
    // Safe cast: the ledger listens on a port.
    const { port } = this.#ledger.address() as AddressInfo;
    return { CLERK_BASE_URL: this.#model.url, LEDGER_URL: `http://127.0.0.1:${port}/` };
  }

  /** How many calls of tools were cut off and not run again, as the model was told. */
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
    this.#ledger.closeAllConnections();
    await new Promise<void>((resolve) => void this.#ledger.close(() => resolve()));
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
