import { createHash } from "node:crypto";
import { type Agent, agent, type TaskContext } from "../../engine/agent/agent.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { conversationOf } from "../frameworks/conversation.ts";
import { type FrameworkOptions, splitOptions } from "../frameworks/framework-options.ts";
import { runFramework } from "../frameworks/run-framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import { hasCheckpointer, type LangChainAgent, type LangGraphGraph } from "./graph.ts";
import { langChainMessages } from "./lang-chain-messages.ts";
import { type LangGraphModule, loadLangGraph } from "./load-langgraph.ts";
import { runLangGraph } from "./run-langgraph.ts";

/** Declares an agent that a graph runs. */
export interface LangGraphOptions extends Omit<FrameworkOptions, "thread"> {
  /**
   * The thread of a graph that has a checkpointer of its own. `context` (default): the tasks of a caller in one context have one thread. `task`: each
   * task has its own. A function returns the id of the thread; it must return the same for every attempt, and must not mix callers.
   */
  readonly thread?: "context" | "task" | ((task: TaskContext) => string);
  /** The graph's input for a task. Default: `{ messages }`, with the conversation or, with a checkpointer, the message of this turn. */
  readonly input?: (task: TaskContext) => unknown;
  /** The result, made of the graph's last state. Default: the text that its models have streamed is the result. */
  readonly output?: (values: unknown) => JsonValue;
  /** Only the messages of these nodes are shown to the caller. Default: of all nodes. */
  readonly nodes?: readonly string[];
}

/**
 * Declares an agent that a compiled graph of LangGraph or an agent of LangChain (`createAgent`) runs. The work up to each of the graph's checkpoints
 * is stored: after a crash the graph continues from its last checkpoint. `interrupt` in a node becomes a question. Throws a `TypeError` for an
 * invalid declaration.
 */
export function fromLangGraph(graph: LangGraphGraph | LangChainAgent, options: LangGraphOptions): Agent {
  return langGraphAgent(graph, options, loadLangGraph);
}

/** As `fromLangGraph`, with LangGraph as a parameter. */
export function langGraphAgent(
  given: LangGraphGraph | LangChainAgent,
  options: LangGraphOptions,
  load: () => Promise<LangGraphModule>,
): Agent {
  const graph = "graph" in given ? given.graph : given;
  if (typeof graph?.stream !== "function" || typeof graph.withConfig !== "function")
    throw new TypeError("fromLangGraph(): the first argument must be a compiled graph of LangGraph, or createAgent().");
  const { thread = "context", input, output, nodes, ...rest } = options;
  const { adapter, definition } = splitOptions({ ...rest, thread: thread === "task" ? "task" : "context" });
  const declared = agent({
    ...definition,
    run: async (task) => {
      const module = await load();
      // A thread of the graph's own checkpointer contains the earlier messages.
      const conversation = await conversationOf(
        task,
        hasCheckpointer(graph) ? { ...adapter, thread: "task" } : adapter,
      );
      const setup = {
        graph,
        module,
        thread: typeof thread === "function" ? thread(task) : threadId(task, [declared.id, thread]),
        input:
          input === undefined ? { messages: langChainMessages(conversation, task.message.messageId) } : input(task),
        nodes,
        output: output && ((values: unknown) => ({ kind: "output" as const, output: jsonOf(output(values)) })),
      };
      await runFramework(task, { run: (run) => runLangGraph(setup, run) }, adapter);
    },
  });
  return declared;
}

/** The same caller and context always have the same thread, and no caller reaches the thread of another. */
function threadId(
  { id, tenant, caller, contextId }: TaskContext,
  [agentId, thread]: readonly [string, "context" | "task"],
): string {
  const whose = [agentId, tenant, caller.anonymous, caller.id, thread === "task" ? id : contextId];
  return createHash("sha256").update(JSON.stringify(whose)).digest("hex");
}
