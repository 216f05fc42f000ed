import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { FrameworkAnswer, FrameworkEvent, FrameworkQuestion, FrameworkRun } from "../frameworks/framework.ts";
import type { OpenAIAgentsModule } from "./load-openai-agents.ts";
import type { OpenAIAgent, OpenAIItem, OpenAIRun, OpenAIRunner, OpenAIRunState } from "./openai-agent.ts";
import { callId, callInput, runEvents } from "./run-events.ts";

/** The run as the SDK writes it, and how often it has called a model. */
interface OpenAIState extends JsonObject {
  readonly runState: string;
  readonly turns: number;
}

export interface OpenAISetup {
  readonly agent: OpenAIAgent;
  readonly runner: OpenAIRunner;
  readonly module: OpenAIAgentsModule;
  /** The input at the beginning of the turn. */
  readonly input: readonly object[];
  /** Model calls of one turn. */
  readonly maxTurns: number;
}

/**
 * Runs the agent from the last stored state, one turn at a time (a model call and its tools): the SDK ends a run at its limit of turns, with a state
 * from which it can go on.
 */
export async function* runOpenAIAgent(
  setup: OpenAISetup,
  { task, progress }: FrameworkRun,
): AsyncGenerator<FrameworkEvent> {
  const { agent, runner, module, maxTurns } = setup;
  const stored = progress.findLast(({ state }) => state !== undefined)?.state as OpenAIState | undefined;
  const answers = progress.at(-1)?.answers ?? [];
  let state = stored === undefined ? undefined : await module.RunState.fromString(agent, stored.runState);
  let turns = stored?.turns ?? 0;
  if (state !== undefined) decide(state, answers);
  // After an approval, the tools run first: their results are stored before the next model call.
  let limit = answers.length > 0 ? turns : turns + 1;
  for (;;) {
    if (limit > maxTurns)
      throw new TaskFailure(`The model was called ${maxTurns} times without a final answer.`, {
        code: "too-many-model-calls",
      });
    const run = await runner.run(agent, state ?? setup.input, { stream: true, signal: task.signal, maxTurns: limit });
    const isAtLimit = yield* untilLimit(run);
    state = run.state;
    turns = limit;
    const saved: OpenAIState = { runState: state.toString(), turns };
    if (!isAtLimit) {
      yield { kind: "end", state: saved, questions: state.getInterruptions().map(question) };
      return;
    }
    yield { kind: "checkpoint", state: saved };
    limit = turns + 1;
  }
}

/** The events of a run. True if the run has ended at its limit of turns. */
async function* untilLimit(run: OpenAIRun): AsyncGenerator<FrameworkEvent, boolean> {
  try {
    for await (const event of run) yield* runEvents(event);
    await run.completed;
    return false;
  } catch (error) {
    if (error instanceof Error && error.constructor.name === "MaxTurnsExceededError") return true;
    throw error;
  }
}

function question(item: OpenAIItem): FrameworkQuestion {
  return { kind: "approval", key: callId(item), name: item.rawItem?.name ?? "(no name)", input: callInput(item) };
}

function decide(state: OpenAIRunState, answers: readonly FrameworkAnswer[]): void {
  for (const item of state.getInterruptions()) {
    const answer = answers.find(({ kind, key }) => kind === "approval" && key === callId(item));
    if (answer?.kind !== "approval") continue;
    const { approved, reason } = answer.decision;
    if (approved) state.approve(item);
    else state.reject(item, { message: reason ?? "The caller declined this call." });
  }
}
