import type { Command } from "commander";
import type { AgentClient } from "../../../client/api.ts";
import { type CalledTask, callRelationsOf, reportedUsage } from "../../../protocol/calls/call-tree.ts";
import type { Task } from "../../../protocol/task.ts";
import type { CliContext } from "../../context.ts";
import { runSession, type Session } from "../../session/session.ts";
import { TASK_ID_OPTION, taskArgument } from "../../session/task-argument.ts";
import { agentCommand } from "../agent.ts";

/** A task and the tasks that it has called. */
interface TreeNode {
  readonly agent: string;
  readonly taskId: string | undefined;
  readonly state: string;
  readonly usage: Readonly<Record<string, number>>;
  /** Why nothing more is known about the task. */
  readonly problem?: string;
  readonly children: readonly TreeNode[];
}

/** A task in the tree. `client`: of the agent that has it. */
interface Place {
  readonly client: AgentClient;
  readonly task: Task;
  readonly agent: string;
  readonly depth?: number;
}

/** Tasks that are shown; a larger tree is cut off. */
const MAX_TASKS = 1000;
const MAX_DEPTH = 64;

/** `palaver task tree`. */
export function taskTreeCommand(context: CliContext): Command {
  const command = agentCommand("tree", {
    description: "Show a task and the tasks that it has called, with their states and usage.",
    options: ["task-id"],
    descriptions: TASK_ID_OPTION,
    examples: [
      ["palaver task tree ID -a http://127.0.0.1:3000", "the tree below the task"],
      ["palaver task tree ID -o json", "the same for programs"],
    ],
  }).argument("[task-id]", "the task at the top");
  return command.action((named: string | undefined) =>
    runSession(context, command.opts(), async (session) => {
      const id = taskArgument(named, session);
      const client = await session.connect();
      const task = await client.task(id).get({ signal: session.signal, historyLength: 0 });
      const reader = new TreeReader(session);
      const tree = await reader.node({ client, task, agent: client.card.name });
      await session.output.own({ json: tree, fields: [...linesOf(tree, "", "")] });
      if (reader.isCut) await session.warn(`Only ${MAX_TASKS} tasks are shown.`);
    }),
  );
}

class TreeReader {
  readonly #session: Session;
  readonly #clients = new Map<string, Promise<AgentClient>>();
  #left = MAX_TASKS;

  constructor(session: Session) {
    this.#session = session;
  }

  get isCut(): boolean {
    return this.#left <= 0;
  }

  async node({ client, task, agent, depth = 0 }: Place): Promise<TreeNode> {
    this.#left -= 1;
    const called = callRelationsOf(task.metadata)?.children ?? [];
    const children: TreeNode[] = [];
    for (const child of called)
      if (depth < MAX_DEPTH && this.#left > 0) children.push(await this.#child(client, child, depth));
    return { agent, taskId: task.id, state: task.status.state, usage: reportedUsage(task.metadata), children };
  }

  async #child(parent: AgentClient, { agent, taskId, state }: CalledTask, depth: number): Promise<TreeNode> {
    const known = { agent, taskId, state, usage: {}, children: [] };
    if (taskId === undefined) return known;
    try {
      const client = await this.#clientOf(parent, agent);
      const task = await client.task(taskId).get({ signal: this.#session.signal, historyLength: 0 });
      return await this.node({ client, task, agent, depth: depth + 1 });
    } catch (error) {
      this.#session.signal.throwIfAborted();
      this.#left -= 1;
      return { ...known, problem: error instanceof Error ? error.message : String(error) };
    }
  }

  /** An agent of the same server is found beside its caller. */
  #clientOf(parent: AgentClient, agent: string): Promise<AgentClient> {
    const url = URL.canParse(agent) ? agent : besides(parent.interface.url, agent);
    let client = this.#clients.get(url);
    client ??= this.#session.connect({ agent: url });
    this.#clients.set(url, client);
    return client;
  }
}

/** `http://h/x/agents/a` or `http://h/x` becomes `http://h/x/agents/b`. */
function besides(url: string, agent: string): string {
  const at = new URL(url);
  const before = at.pathname.replace(/\/agents\/[^/]+(\/.*)?$/, "").replace(/\/+$/, "");
  return new URL(`${before}/agents/${agent}`, at).href;
}

function* linesOf(node: TreeNode, lead: string, rest: string): Generator<readonly [string, string], void> {
  const { agent, taskId = "(no task)", state, usage, problem, children } = node;
  const used = Object.entries(usage).map(([name, value]) => `${name} ${value}`);
  yield [`${lead}${agent}`, [`${taskId} ${state}`, ...used, ...(problem === undefined ? [] : [problem])].join(", ")];
  for (const [index, child] of children.entries()) {
    const isLast = index === children.length - 1;
    yield* linesOf(child, `${rest}${isLast ? "└─ " : "├─ "}`, `${rest}${isLast ? "   " : "│  "}`);
  }
}
