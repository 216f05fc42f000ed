import type { TaskContext } from "../../engine/agent/agent.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { FrameworkEvent, FrameworkRun } from "../frameworks/framework.ts";
import { hasCheckpointer, type LangGraphCheckpointEvent, type LangGraphGraph, type LangGraphMessage } from "./graph.ts";
import { questionsOf, resumeValue } from "./interrupts.ts";
import type { LangGraphModule } from "./load-langgraph.ts";
import { MessageReader, textOfContent } from "./message-reader.ts";
import { SuperstepGate } from "./superstep-gate.ts";
import { createTurnSaver, type SaverEntry, type TurnSaver } from "./turn-saver.ts";

/** What is needed to continue: the checkpoints that this adapter keeps, or the place in the graph's own checkpointer. */
interface LangGraphState extends JsonObject {
  readonly entries?: readonly SaverEntry[];
  readonly checkpointId?: string;
  /** Whether text was streamed in this turn. */
  readonly hasText: boolean;
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
export async function* runLangGraph(setup: LangGraphSetup, run: FrameworkRun): AsyncGenerator<FrameworkEvent> {
  const { task, progress } = run;
  // Safe cast: this adapter made the states.
  const states = progress.flatMap(({ state }) => (state === undefined ? [] : [state as LangGraphState]));
  const { graph, saver, thread } = threadOf(setup, { task, states });
  const reader = new MessageReader();
  const gate = new SuperstepGate(task.signal);
  let last = states.at(-1)?.checkpointId;
  let hasText = states.at(-1)?.hasText ?? false;
  const start = saver === undefined ? await placeToContinue(graph, thread, last) : {};
  const stream = await graph.stream(inputOf(setup, progress), {
    configurable: { ...thread, ...start },
    streamMode: ["messages", "updates", "checkpoints"],
    // A checkpoint is saved before it is in the stream.
    durability: "sync",
    callbacks: [gate.handler],
    signal: task.signal,
  });
  for await (const item of stream) {
    const [mode, content] = streamItem(item);
    if (mode === "checkpoints") {
      const { id, step } = checkpointOf(content);
      if (id === undefined) continue;
      if (id !== last)
        yield { kind: "checkpoint", state: { checkpointId: id, hasText, ...(saver && { entries: saver.take(id) }) } };
      last = id;
      gate.release(step);
      continue;
    }
    for (const event of mode === "messages" ? messageEvents(reader, content, setup.nodes) : reader.complete()) {
      hasText ||= event.kind === "text";
      yield event;
    }
  }
  const snapshot = await graph.getState({ configurable: thread });
  const questions = questionsOf(snapshot);
  if (questions.length === 0) {
    const result = setup.output?.(snapshot.values) ?? (hasText ? undefined : lastText(snapshot.values));
    if (result !== undefined) yield result;
  }
  const { checkpoint_id: id } = snapshot.config.configurable ?? {};
  const state: LangGraphState = {
    hasText,
    ...(id !== undefined && { checkpointId: id }),
    ...(saver && { entries: saver.take() }),
  };
  yield { kind: "end", state, questions };
}

interface Thread {
  readonly graph: LangGraphGraph;
  /** Absent: the graph has a checkpointer of its own. */
  readonly saver?: TurnSaver;
  readonly thread: { readonly thread_id: string };
}

function threadOf(
  { graph, module, thread }: LangGraphSetup,
  { task, states }: { readonly task: TaskContext; readonly states: readonly LangGraphState[] },
): Thread {
  if (hasCheckpointer(graph)) return { graph, thread: { thread_id: thread } };
  const entries = states.flatMap((state) => state.entries ?? []);
  const saver = createTurnSaver(module.BaseCheckpointSaver, entries);
  // A copy, because the graph serves other tasks at the same time.
  const copy = graph.withConfig({});
  copy.checkpointer = saver;
  return { graph: copy, saver, thread: { thread_id: task.id } };
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

/** A checkpoint of the graph itself; those of subgraphs have no id here. */
function checkpointOf(content: unknown): { readonly id: string | undefined; readonly step: number | undefined } {
  // Safe cast: this is what LangGraph sends in this mode.
  const { config, metadata } = content as LangGraphCheckpointEvent;
  const { checkpoint_id: id, checkpoint_ns: ns = "" } = config?.configurable ?? {};
  return { id: ns === "" ? id : undefined, step: metadata?.step };
}

/** The text of the last message of a model. LangGraph streams only messages of models, and instances of its classes that nodes return. */
function lastText(values: unknown): FrameworkEvent | undefined {
  if (typeof values !== "object" || values === null || !("messages" in values)) return undefined;
  const { messages } = values;
  const message: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  return isMessage(message) && message.getType() === "ai"
    ? { kind: "text", text: textOfContent(message.content) }
    : undefined;
}

function isMessage(value: unknown): value is LangGraphMessage {
  return typeof value === "object" && value !== null && "getType" in value && typeof value.getType === "function";
}

function streamItem(item: unknown): readonly [mode: string, content: unknown] {
  if (Array.isArray(item) && item.length === 2 && typeof item[0] === "string") return [item[0], item[1]];
  throw new Error("The graph's stream has an unknown form. Versions 1 of LangGraph are supported.");
}
