import { type ReadonlySignal, signal } from "@preact/signals";
import {
  type AgentClient,
  connect,
  type JsonObject,
  type PartInput,
  RemoteError,
  type RemoteStream,
  type RemoteStreamEvent,
  type SendOptions,
} from "palaver/client";
import { announce } from "../app/announce.tsx";
import { agentUrl } from "../app/place.ts";
import { agentFetch } from "../data/agent-fetch.ts";
import type { WirePart } from "../data/operator-types.ts";
import { readableText } from "./question.ts";
import { type AgentTurn, lengthsOf, type Turn, turnsOfTasks } from "./turns.ts";
import { createWireLog, type WireLog } from "./wire-log.ts";

/** A message of the person. */
export interface Outgoing {
  readonly parts: readonly WirePart[];
  /** The task that it answers; absent: a new task. */
  readonly taskId?: string;
  readonly metadata?: JsonObject;
  readonly isSecret?: boolean;
}

/** One chat with one agent. */
export interface Conversation {
  readonly turns: ReadonlySignal<readonly Turn[]>;
  /** Empty until the agent has answered once. */
  readonly contextId: ReadonlySignal<string>;
  readonly client: ReadonlySignal<AgentClient | undefined>;
  /** The agent refused a request because of missing or wrong credentials. */
  readonly needsCredential: ReadonlySignal<boolean>;
  /** Why the agent cannot be reached. */
  readonly failure: ReadonlySignal<string | undefined>;
  readonly wire: WireLog;
  send(message: Outgoing): Promise<void>;
  cancel(taskId: string): Promise<void>;
  close(): void;
}

export interface ConversationOptions {
  readonly agent: string;
  /** Of an earlier conversation; empty: a new one. */
  readonly contextId: string;
  /** `VERSION BINDING`, such as `0.3 JSONRPC`; empty: negotiated. */
  readonly dialect: string;
  /** A key or a token, sent where the card of the agent wants it; empty: none. */
  readonly credential: string;
}

/** A restart of the server must not end a stream that a person watches. */
const RETRY = { reconnects: 10_000, baseDelay: 300, maxDelay: 5000 };
const MOST_TASKS = 50;

/** Connects to an agent of this server, and reads the tasks of an earlier conversation. */
export function openConversation({
  agent,
  contextId: earlier,
  dialect,
  credential,
}: ConversationOptions): Conversation {
  const turns = signal<readonly Turn[]>([]);
  const contextId = signal(earlier);
  const client = signal<AgentClient | undefined>(undefined);
  const failure = signal<string | undefined>(undefined);
  const needsCredential = signal(false);
  const wire = createWireLog(agentFetch, credential);
  const abort = new AbortController();
  /** The streams that are read, by turn. */
  const streams = new Map<string, AbortController>();
  let keys = 0;
  const nextKey = (): string => `turn ${++keys}`;

  const ready = open();

  async function open(): Promise<void> {
    try {
      const [version, binding] = dialect.split(" ");
      const opened = await connect(agentUrl(agent), {
        fetch: wire.fetch,
        cache: false,
        retry: RETRY,
        signal: abort.signal,
        ...(version !== undefined && binding !== undefined && { version, binding }),
        ...(credential !== "" && { credentials: { bearer: credential, apiKey: credential } }),
      });
      client.value = opened;
      if (earlier !== "") await restore(opened);
    } catch (error) {
      if (abort.signal.aborted) return;
      needsCredential.value = isRefused(error);
      failure.value = messageOf(error);
    }
  }

  /** Shows the stored tasks of the context, and follows those that are at work. */
  async function restore(opened: AgentClient): Promise<void> {
    const filter = { contextId: earlier, artifacts: true, historyLength: 100, pageSize: MOST_TASKS };
    const page = await opened.taskPage(filter).catch((error: unknown) => {
      // Agents of early versions do not list tasks: the conversation goes on without what was said before.
      if (error instanceof RemoteError && /unsupported|not-found|not-supported/.test(error.code)) return undefined;
      throw error;
    });
    if (page === undefined) return;
    turns.value = turnsOfTasks(page.tasks);
    for (const task of page.tasks) {
      if (task.status.state !== "working" && task.status.state !== "submitted") continue;
      const turn = turns.value.findLast((each) => each.kind === "agent" && each.task?.id === task.id);
      if (turn !== undefined) void follow(turn.key, (signal) => opened.task(task.id).subscribe({ signal }));
    }
  }

  function change(key: string, next: (turn: AgentTurn) => AgentTurn): void {
    turns.value = turns.peek().map((turn) => (turn.key === key && turn.kind === "agent" ? next(turn) : turn));
  }

  /** Events of one picture of the screen are shown together. */
  async function follow(key: string, open: (signal: AbortSignal) => RemoteStream): Promise<void> {
    const own = new AbortController();
    streams.set(key, own);
    let waiting: RemoteStreamEvent[] = [];
    let frame: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      const events = waiting;
      waiting = [];
      frame = undefined;
      change(key, (turn) => events.reduce(withEvent, turn));
    };
    try {
      for await (const event of open(AbortSignal.any([abort.signal, own.signal]))) {
        if (event.kind !== "message") contextId.value = event.task.contextId || contextId.peek();
        waiting.push(event);
        frame ??= setTimeout(show, 30);
      }
      clearTimeout(frame);
      show();
      change(key, (turn) => ({ ...turn, endedAt: Date.now() }));
      const turn = turns.peek().find((each) => each.key === key);
      if (turn?.kind === "agent") announce(sentenceOf(turn));
    } catch (error) {
      clearTimeout(frame);
      if (abort.signal.aborted) return;
      show();
      const isLeft = own.signal.aborted;
      if (isRefused(error)) needsCredential.value = true;
      change(key, (turn) => ({ ...turn, endedAt: Date.now(), ...(!isLeft && { failure: messageOf(error) }) }));
      if (!isLeft) announce("The message failed");
    } finally {
      streams.delete(key);
    }
  }

  /** A task that waits for an authorisation goes on streaming. After an answer, the next turn shows what follows. */
  function leave(taskId: string): void {
    for (const turn of turns.peek())
      if (turn.kind === "agent" && turn.task?.id === taskId) streams.get(turn.key)?.abort();
  }

  return {
    turns,
    contextId,
    client,
    failure,
    needsCredential,
    wire,
    async send({ parts, taskId, metadata, isSecret = false }) {
      await ready;
      const opened = client.peek();
      if (opened === undefined) return;
      if (taskId !== undefined) leave(taskId);
      const key = nextKey();
      turns.value = [
        ...turns.peek(),
        { kind: "user", key: `${key} user`, parts, isSecret },
        { kind: "agent", key, written: [], earlier: {}, notes: [], events: 0, startedAt: Date.now() },
      ];
      const context = contextId.peek();
      const options: SendOptions = {
        ...(taskId !== undefined && { taskId }),
        ...(context !== "" && { contextId: context }),
      };
      // Safe cast: parts of the console have exactly one kind of content.
      const content = { parts: parts as readonly PartInput[], ...(metadata !== undefined && { metadata }) };
      await follow(key, (signal) => opened.stream(content, { ...options, signal }));
    },
    async cancel(taskId) {
      try {
        await client.peek()?.task(taskId).cancel();
      } catch (error) {
        failure.value = messageOf(error);
      }
    },
    close: () => abort.abort(),
  };
}

function withEvent(turn: AgentTurn, event: RemoteStreamEvent): AgentTurn {
  const events = turn.events + 1;
  if (event.kind === "message") return { ...turn, events, message: event.message };
  const { task } = event;
  if (event.kind === "artifact") {
    const { artifactId } = event.artifact;
    return {
      ...turn,
      events,
      task,
      written: turn.written.includes(artifactId) ? turn.written : [...turn.written, artifactId],
    };
  }
  const note = event.kind === "status" && event.status.state === "working" ? readableText(event.status.message) : "";
  // A first task may already have artifacts; after an answer, those of before are shown above.
  const isFirst = turn.task === undefined && event.kind === "task";
  const isNew = isFirst && (task.history?.length ?? 0) <= 1;
  const written = isNew ? (task.artifacts ?? []).map(({ artifactId }) => artifactId) : turn.written;
  const earlier = isFirst && !isNew ? lengthsOf(task.artifacts ?? []) : turn.earlier;
  return {
    ...turn,
    events,
    task,
    written,
    earlier,
    notes: note === "" || turn.notes.at(-1) === note ? turn.notes : [...turn.notes, note],
  };
}

function sentenceOf({ task }: AgentTurn): string {
  const state = task?.status.state;
  if (state === "input-required" || state === "auth-required") return "The agent asks a question";
  return state === undefined ? "The agent answered" : `The task is ${state}`;
}

function isRefused(error: unknown): boolean {
  return error instanceof RemoteError && ["unauthenticated", "no-credentials"].includes(error.code);
}

function messageOf(error: unknown): string {
  if (error instanceof RemoteError) return `${error.message} (${error.code})`;
  return error instanceof Error ? error.message : String(error);
}
