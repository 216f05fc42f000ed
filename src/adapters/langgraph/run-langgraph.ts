import type { JsonObject } from "../../protocol/json.ts";
import type { FrameworkEvent, FrameworkRun } from "../frameworks/framework.ts";
import type { LangGraphCheckpointEvent, LangGraphGraph, LangGraphMessage } from "./graph.ts";
import { questionsOf, resumeValue } from "./interrupts.ts";
import type { LangGraphModule } from "./load-langgraph.ts";
import { MessageReader } from "./message-reader.ts";
import { createTurnSaver, type SaverEntry, type TurnSaver } from "./turn-saver.ts";

/** What is needed to continue: the checkpoints that this adapter keeps, or the place in the graph's own checkpointer. */
interface LangGraphState extends JsonObject {
  readonly entries?: readonly SaverEntry[];
  readonly checkpointId?: string;
}

export interface LangGraphSetup {
  readonly graph: LangGraphGraph;
  readonly module: LangGraphModule;
  /** The id of the thread in the graph's own checkpointer. */
  readonly thread: string;
  /** The first input of the turn. */
  readonly input: unknown;
  /** Only the messages of these nodes are shown. Absent: of all. */
  readonly nodes: readonly string[] | undefined;
  /** What the result is, besides streamed text. */
  readonly output: ((values: unknown) => FrameworkEvent | undefined) | undefined;
}

/** Runs the graph from the last stored checkpoint, and translates its stream. */
export async function* runLangGraph(
  setup: LangGraphSetup,
  { task, progress }: FrameworkRun,
): AsyncGenerator<FrameworkEvent> {
  const states = progress.flatMap(({ state }) => (state === undefined ? [] : [state as LangGraphState]));
  const own = setup.graph.checkpointer;
  const saver = own
    ? undefined
    : createTurnSaver(
        setup.module.BaseCheckpointSaver,
        states.flatMap(({ entries = [] }) => entries),
      );
  const graph = saver === undefined ? setup.graph : withCheckpointer(setup.graph, saver);
  const thread = { thread_id: saver === undefined ? setup.thread : task.id };
  const start = saver === undefined ? await placeToContinue(graph, thread, states.at(-1)?.checkpointId) : {};
  const reader = new MessageReader();
  const stream = await graph.stream(inputOf(setup, progress), {
    configurable: { ...thread, ...start },
    streamMode: ["messages", "updates", "checkpoints"],
    // A checkpoint is saved before the graph continues, so that the next one never replaces it before it is in the stream.
    durability: "sync",
    signal: task.signal,
  });
  let last = states.at(-1)?.checkpointId;
  for await (const item of stream) {
    const [mode, content] = streamItem(item);
    if (mode === "messages") yield* messageEvents(reader, content, setup.nodes);
    else if (mode === "updates") yield* reader.complete();
    else {
      // Safe cast: this is what LangGraph sends in this mode.
      const { configurable = {} } = (content as LangGraphCheckpointEvent).config ?? {};
      const { checkpoint_id: id, checkpoint_ns: ns = "" } = configurable;
      if (id === undefined || ns !== "" || id === last) continue;
      last = id;
      yield { kind: "checkpoint", state: stateOf(saver, id) };
    }
  }
  const snapshot = await graph.getState({ configurable: thread });
  const questions = questionsOf(snapshot);
  const result = questions.length === 0 ? setup.output?.(snapshot.values) : undefined;
  if (result !== undefined) yield result;
  const checkpointId = snapshot.config.configurable?.checkpoint_id;
  yield {
    kind: "end",
    state: saver === undefined ? place(checkpointId) : { ...place(checkpointId), entries: saver.take() },
    questions,
  };
}

function stateOf(saver: TurnSaver | undefined, checkpointId: string): LangGraphState {
  return { checkpointId, ...(saver !== undefined && { entries: saver.take(checkpointId) }) };
}

function place(checkpointId: string | undefined): LangGraphState {
  return checkpointId === undefined ? {} : { checkpointId };
}

/** The graph may have saved more than the task has stored before the process died: then it continues from the older checkpoint. */
async function placeToContinue(
  graph: LangGraphGraph,
  thread: object,
  stored: string | undefined,
): Promise<{ readonly checkpoint_id?: string }> {
  if (stored === undefined) return {};
  const { config } = await graph.getState({ configurable: thread });
  return config.configurable?.checkpoint_id === stored ? {} : { checkpoint_id: stored };
}

/** A copy: the graph may serve other tasks at the same time. */
function withCheckpointer(graph: LangGraphGraph, saver: TurnSaver): LangGraphGraph {
  const copy = graph.withConfig({});
  copy.checkpointer = saver;
  return copy;
}

/** The input at the beginning; after an interrupt the answers; after a crash nothing, so that the graph continues from its checkpoint. */
function inputOf({ input, module }: LangGraphSetup, progress: FrameworkRun["progress"]): unknown {
  const latest = progress.at(-1);
  if (latest === undefined) return input;
  const resume = latest.answers === undefined ? undefined : resumeValue(latest.answers);
  return resume === undefined ? null : new module.Command({ resume });
}

function* messageEvents(
  reader: MessageReader,
  content: unknown,
  nodes: readonly string[] | undefined,
): Generator<FrameworkEvent> {
  // Safe cast: this is what LangGraph sends in this mode.
  const [message, { langgraph_node: node = "" }] = content as [LangGraphMessage, { readonly langgraph_node?: string }];
  if (nodes === undefined || nodes.includes(node) || message.getType() === "tool") yield* reader.read(message);
}

function streamItem(item: unknown): readonly [mode: string, content: unknown] {
  if (Array.isArray(item) && item.length === 2 && typeof item[0] === "string") return [item[0], item[1]];
  throw new Error("The graph's stream has an unknown form. Versions 1 of LangGraph are supported.");
}
