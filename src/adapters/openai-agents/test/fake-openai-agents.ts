import type { OpenAIAgentsModule } from "../load-openai-agents.ts";
import type { OpenAIEvent, OpenAIItem, OpenAIRunState } from "../openai-agent.ts";

interface FakeCall {
  readonly callId: string;
  readonly name: string;
  readonly arguments: string;
  readonly needsApproval?: boolean;
}

/** What the model answers in one turn. */
export interface FakeTurn {
  readonly text?: readonly string[];
  readonly calls?: readonly FakeCall[];
}

/** Stands for the package `@openai/agents`, with a list of turns. */
export function fakeOpenAIAgents(script: readonly FakeTurn[]): FakeOpenAIAgents {
  const fake = { inputs: [] as unknown[], decisions: [] as [string, string][], modelCalls: 0 };

  class RunState implements OpenAIRunState {
    /** Model calls that were made. */
    turns = 0;
    /** The call that waits for approval. */
    waiting: FakeCall | undefined;
    isDecided = false;

    static async fromString(_agent: object, text: string): Promise<RunState> {
      return Object.assign(new RunState(), JSON.parse(text) as object);
    }

    toString(): string {
      return JSON.stringify({ turns: this.turns, waiting: this.waiting });
    }

    getInterruptions(): readonly OpenAIItem[] {
      return this.waiting === undefined ? [] : [{ rawItem: this.waiting }];
    }

    approve({ rawItem }: OpenAIItem): void {
      this.isDecided = true;
      fake.decisions.push([rawItem?.callId ?? "", "approved"]);
    }

    reject({ rawItem }: OpenAIItem, options: { readonly message?: string } = {}): void {
      this.isDecided = true;
      fake.decisions.push([rawItem?.callId ?? "", options.message ?? ""]);
    }
  }

  class MaxTurnsExceededError extends Error {}

  async function* events(state: RunState, maxTurns: number): AsyncGenerator<OpenAIEvent> {
    if (state.isDecided && state.waiting !== undefined) {
      yield item("tool_output", state.waiting);
      state.waiting = undefined;
    }
    for (;;) {
      if (state.turns >= maxTurns) throw new MaxTurnsExceededError();
      const { text = [], calls = [] } = script[state.turns] ?? {};
      state.turns += 1;
      fake.modelCalls += 1;
      yield raw({ type: "response_started" });
      for (const delta of text) yield raw({ type: "output_text_delta", delta });
      const usage = { inputTokens: 3, outputTokens: 2, inputTokensDetails: [{ cached_tokens: 1 }] };
      yield raw({ type: "response_done", response: { usage } });
      for (const call of calls) yield item("tool_called", call);
      state.waiting = calls.find(({ needsApproval }) => needsApproval === true);
      if (state.waiting !== undefined || calls.length === 0) return;
      for (const call of calls) yield item("tool_output", call);
    }
  }

  const module: OpenAIAgentsModule = {
    RunState,
    async run(_agent, input, { maxTurns }) {
      fake.inputs.push(input);
      const state = input instanceof RunState ? input : new RunState();
      return { state, completed: Promise.resolve(), [Symbol.asyncIterator]: () => events(state, maxTurns) };
    },
  };
  return Object.assign(fake, { module });
}

interface FakeOpenAIAgents {
  readonly module: OpenAIAgentsModule;
  readonly inputs: readonly unknown[];
  /** The decisions about calls: their ids, and `approved` or the reason. */
  readonly decisions: readonly (readonly [string, string])[];
  readonly modelCalls: number;
}

function raw(data: NonNullable<OpenAIEvent["data"]>): OpenAIEvent {
  return { type: "raw_model_stream_event", data };
}

function item(name: string, rawItem: FakeCall): OpenAIEvent {
  return { type: "run_item_stream_event", name, item: { rawItem, output: `${rawItem.name} ran` } };
}
