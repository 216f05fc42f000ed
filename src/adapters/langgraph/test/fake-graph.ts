import type { LangGraphGraph, LangGraphMessage, LangGraphSnapshot } from "../graph.ts";
import type { LangGraphModule } from "../load-langgraph.ts";

/** What a superstep of a fake graph may do. */
export interface Superstep {
  emit(message: LangGraphMessage): void;
  /** Ends the run with a question, unless it was answered. */
  interrupt(id: string, value: unknown): void;
}

interface Saver {
  put(config: object, checkpoint: object, metadata: object): Promise<unknown>;
  getTuple(config: object): Promise<{ readonly checkpoint: unknown } | undefined>;
}

interface Options {
  readonly configurable: { readonly thread_id: string };
  readonly callbacks: readonly { handleChainStart(...values: readonly unknown[]): Promise<void> }[];
}

/** A graph with a list of supersteps. Like LangGraph it saves a checkpoint after each, and continues after the last one that is saved. */
export class FakeGraph implements LangGraphGraph {
  checkpointer: unknown;
  readonly inputs: unknown[] = [];
  readonly threads: string[] = [];
  /** The indexes of the supersteps that ran. */
  readonly ran: number[] = [];
  readonly #supersteps: readonly ((step: Superstep) => Promise<void>)[];
  #saver: Saver | undefined;
  #interrupts: { readonly id: string; readonly value: unknown }[] = [];

  constructor(supersteps: readonly ((step: Superstep) => Promise<void>)[]) {
    this.#supersteps = supersteps;
  }

  /** The copy gets the checkpointer of the adapter. */
  withConfig(): LangGraphGraph {
    const setSaver = (saver: unknown): void => {
      // Safe cast: the adapter sets a saver.
      this.#saver = saver as Saver;
    };
    return {
      stream: (input, options) => this.stream(input, options),
      getState: () => this.getState(),
      withConfig: () => this.withConfig(),
      set checkpointer(saver: unknown) {
        setSaver(saver);
      },
    };
  }

  async stream(input: unknown, options: object): Promise<AsyncIterable<unknown>> {
    this.inputs.push(input);
    // Safe cast: the adapter passes these options.
    const given = options as Options;
    this.threads.push(given.configurable.thread_id);
    return this.#run(input, given);
  }

  async getState(): Promise<LangGraphSnapshot> {
    const interrupts = this.#interrupts;
    return { values: {}, next: interrupts.length > 0 ? ["node"] : [], config: {}, tasks: [{ interrupts }] };
  }

  async *#run(input: unknown, { callbacks }: Options): AsyncGenerator<unknown> {
    const saver = this.#saver;
    const saved = input === null ? await saver?.getTuple({ configurable: { thread_id: "t" } }) : undefined;
    // Safe cast: saved below.
    const done = (saved?.checkpoint as { readonly done: number } | undefined)?.done ?? 0;
    const isResumed = typeof input === "object" && input !== null && "resume" in input;
    this.#interrupts = [];
    yield await this.#checkpoint(done);
    for (let index = done; index < this.#supersteps.length; index += 1) {
      for (const { handleChainStart } of callbacks)
        await handleChainStart({}, {}, "", "", [], { langgraph_step: index, langgraph_checkpoint_ns: "node:1" });
      this.ran.push(index);
      const messages: LangGraphMessage[] = [];
      let wake = Promise.withResolvers<void>();
      const work = this.#supersteps[index]?.({
        emit: (message) => {
          messages.push(message);
          wake.resolve();
        },
        interrupt: (id, value) => {
          if (!isResumed) this.#interrupts.push({ id, value });
        },
      }).then(() => wake.resolve());
      let isDone = false;
      void work?.then(() => {
        isDone = true;
      });
      while (!isDone || messages.length > 0) {
        const message = messages.shift();
        if (message !== undefined) yield ["messages", [message, { langgraph_node: "node" }]];
        else {
          await wake.promise;
          wake = Promise.withResolvers();
          await Promise.resolve();
        }
      }
      if (this.#interrupts.length > 0) return;
      yield ["updates", {}];
      yield await this.#checkpoint(index + 1);
    }
  }

  /** Saves that so many supersteps are done. */
  async #checkpoint(done: number): Promise<unknown> {
    const id = `checkpoint-${done}`;
    await this.#saver?.put({ configurable: { thread_id: "t" } }, { id, done }, {});
    return ["checkpoints", { config: { configurable: { checkpoint_id: id } }, metadata: { step: done - 1 } }];
  }
}

export function fakeMessage(type: string, content: unknown, rest: Partial<LangGraphMessage> = {}): LangGraphMessage {
  return { content, getType: () => type, ...rest };
}

/** Stands for the package `@langchain/langgraph`. */
export async function fakeLangGraph(): Promise<LangGraphModule> {
  abstract class BaseCheckpointSaver {
    readonly serde = {
      dumpsTyped: async (value: unknown) => ["json", new TextEncoder().encode(JSON.stringify(value))] as const,
      loadsTyped: async (_type: string, data: Uint8Array | string): Promise<unknown> =>
        JSON.parse(typeof data === "string" ? data : new TextDecoder().decode(data)),
    };
  }
  class Command {
    readonly resume: unknown;
    constructor({ resume }: { readonly resume: unknown }) {
      this.resume = resume;
    }
  }
  return { BaseCheckpointSaver, Command };
}
