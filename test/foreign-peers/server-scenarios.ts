import { ok, strictEqual } from "node:assert";
import { createServer, remoteAgent } from "palaver";
import {
  type AgentClient,
  type ConnectOptions,
  connect,
  type Message,
  type Part,
  RemoteError,
  type RemoteStream,
  type Task,
  textOf,
} from "../../src/client.ts";
import { FILE, TOKENS } from "./client-agent.ts";
import type { RunningPeer, ServerScenarioName } from "./peer.ts";

type Scenario = (url: string) => Promise<void>;

/** Only the scenario about finding the card starts at the agent's address; the others start at the card's address. */
export function runServer(scenario: ServerScenarioName, { url, cardUrl = url }: RunningPeer): Promise<void> {
  return RUN[scenario](scenario === "card found from the address" ? url : cardUrl);
}

const QUICK: ConnectOptions = { retry: { attempts: 1, baseDelay: 10 }, poll: { first: 10, most: 50 } };
const FILE_PART: Part = { raw: FILE.base64, filename: FILE.name, mediaType: FILE.mediaType };

/** The scenarios for `connect` and `remoteAgent` with every server. Each throws if the result is not as expected. */
const RUN: Readonly<Record<ServerScenarioName, Scenario>> = {
  async "card found from the address"(url) {
    ok((await connect(url, QUICK)).card.name.length > 0);
  },

  async "text, sent"(url) {
    strictEqual(await sentText(await connect(url, QUICK), "hello"), "You said: hello");
  },

  async "text, streamed"(url) {
    strictEqual((await readAll((await connect(url, QUICK)).stream("hello"))).text, "You said: hello");
  },

  async "300 tokens, streamed"(url) {
    strictEqual((await readAll((await connect(url, QUICK)).stream("tokens"))).text, TOKENS.join(""));
  },

  async "two messages in one context"(url) {
    const agent = await connect(url, QUICK);
    const first = await agent.send("count");
    const contextId = first.kind === "task" ? first.task.contextId : first.message.contextId;
    strictEqual(await sentText(agent, "count", contextId), "Message 2");
  },

  async "question and answer"(url) {
    const agent = await connect(url, QUICK);
    const asked = await readAll(agent.stream("ask"));
    ok(asked.text.endsWith("What is your name?"), asked.text);
    const { id: taskId, contextId, status } = asked.task ?? {};
    strictEqual(status?.state, "input-required");
    ok(taskId !== undefined && contextId !== undefined);
    strictEqual((await readAll(agent.stream("Ada", { taskId, contextId }))).text, "Hello, Ada.");
  },

  /** Servers differ: a failed task, or an error. Both must reach the caller, for send and stream. */
  async "failed task"(url) {
    const agent = await connect(url, QUICK);
    await failsOrThrows(async () => taskIn(await agent.send("fail")));
    await failsOrThrows(async () => (await readAll(agent.stream("fail"))).task);
  },

  async "cancel a running task"(url) {
    const agent = await connect(url, QUICK);
    const leave = new AbortController();
    try {
      for await (const event of agent.stream("wait", { signal: leave.signal })) {
        if (event.kind === "message") throw new Error("Expected a task, got a message.");
        strictEqual((await agent.task(event.task.id).cancel()).status.state, "canceled");
        return;
      }
    } finally {
      leave.abort();
    }
  },

  /** Versions before 1.0 have no list method: the error must say so. */
  async "list of tasks"(url) {
    const agent = await connect(url, QUICK);
    try {
      await agent.taskPage();
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      strictEqual(error.code, "unsupported-operation");
    }
  },

  async "text, through remoteAgent"(url) {
    await throughRelay(url, async (agent) => {
      const { text } = await readAll(agent.stream("hello"));
      ok(text.includes("You said: hello"), text);
    });
  },

  async "file, through remoteAgent"(url) {
    await throughRelay(url, async (agent) => {
      const { text } = await readAll(agent.stream([{ text: "measure" }, FILE_PART]));
      ok(text.includes(`${atob(FILE.base64).length} bytes`), text);
    });
  },
};

async function throughRelay(url: string, use: (agent: AgentClient) => Promise<void>): Promise<void> {
  const relay = await remoteAgent(url, { ...QUICK, agent: { id: "relay" } });
  const server = createServer([relay], {
    host: "127.0.0.1",
    port: 0,
    store: "memory:",
    drainTimeout: 0,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  const { url: front } = await server.listen();
  try {
    await use(await connect(front, QUICK));
  } finally {
    await server.close();
  }
}

async function sentText(agent: AgentClient, text: string, contextId?: string): Promise<string> {
  const sent = await agent.send(text, contextId === undefined ? {} : { contextId });
  return sent.kind === "message" ? textOf(sent.message.parts) : allText(sent.task);
}

/**
 * The agent's text: from artifacts, otherwise from the status, otherwise from its messages after the user's last
 * message.
 */
function allText(task: Task | undefined): string {
  const artifacts = (task?.artifacts ?? []).map(({ parts }) => textOf(parts)).join("");
  const status = textOf(task?.status.message?.parts ?? []);
  const history = task?.history ?? [];
  const replies = history.slice(history.findLastIndex(({ role }) => role === "user") + 1);
  return artifacts || status || replies.map(({ parts }) => textOf(parts)).join("");
}

/** The text of a whole stream, and its final task. A message that is sent again with more text counts once. */
async function readAll(stream: RemoteStream): Promise<{ readonly text: string; readonly task: Task | undefined }> {
  const messages = new Map<string, Message>();
  const keep = (message: Message | undefined) => message && messages.set(message.messageId, message);
  let task: Task | undefined;
  for await (const event of stream) {
    if (event.kind === "message") keep(event.message);
    else ({ task } = event);
    keep(
      event.kind === "status" ? event.status.message : event.kind === "task" ? event.task.status.message : undefined,
    );
  }
  const artifacts = (task?.artifacts ?? []).map(({ parts }) => textOf(parts)).join("");
  return { text: artifacts || [...messages.values()].map(({ parts }) => textOf(parts)).join(""), task };
}

function taskIn(sent: Awaited<ReturnType<AgentClient["send"]>>): Task | undefined {
  return sent.kind === "task" ? sent.task : undefined;
}

/** The reason must be that of this failure. */
async function failsOrThrows(work: () => Promise<Task | undefined>): Promise<void> {
  let reason: string;
  try {
    const task = await work();
    strictEqual(task?.status.state, "failed");
    reason = textOf(task.status.message?.parts ?? []);
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    reason = error.message;
  }
  ok(reason.includes("The agent broke."), reason);
}
