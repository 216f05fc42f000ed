import type { Server } from "../platform/create-server.ts";

/** State of a plain task. A task that waits for input is `working`; a canceled or rejected task is `failed`. */
export type A2ATaskState = "submitted" | "working" | "completed" | "failed";

/** A message of a plain task. */
export interface A2AMessage {
  readonly role: "user" | "agent";
  readonly parts: readonly { readonly type: "text"; readonly text: string }[];
}

/** A task in the plain dialect. */
export interface A2ATask {
  /** Id of the task. */
  readonly id: string;
  readonly state: A2ATaskState;
  /** Oldest first. The agent's last message is its answer. */
  readonly messages: readonly A2AMessage[];
  /** The conversation that the task belongs to. */
  readonly sessionId: string;
  /** ISO 8601 in UTC, with milliseconds. */
  readonly createdAt: string;
  /** When the state or the status message last changed, in the same format. */
  readonly updatedAt: string;
}

/** The body of `tasks/send`: the parameters, bare or under `params`. */
export type A2ATaskSendRequest = A2ATaskParameters | { readonly params: A2ATaskParameters };

/** What to send. Only `message` is required. */
interface A2ATaskParameters {
  /** A text, or text parts. */
  readonly message: string | MessageToSend;
  /** Id of the skill to use. Default: the agent chooses. */
  readonly skill?: string | undefined;
  /** Milliseconds after which a working task fails. Default 300 000. */
  readonly timeoutMs?: number | undefined;
  /** The session of the task. Default: a new session. */
  readonly sessionId?: string | undefined;
  /** The task to continue. It must not be finished. Default: start a new task. */
  readonly taskId?: string | undefined;
}

/** A message of text parts. `role` and `type` may be omitted: they can have only one value. */
interface MessageToSend {
  readonly role?: "user" | undefined;
  readonly parts: readonly { readonly type?: "text" | undefined; readonly text: string }[];
}

/** A protocol beyond A2A that a program supports, as its card lists it. */
export interface A2AProtocolExtension {
  /** Such as `MCP`. */
  readonly protocol: string;
  readonly description: string;
  /** The URL at which the program supports it. */
  readonly endpoint?: string;
}

/** What tasks are sent to: a server, or the process manager of another program. */
export type A2ATaskDeps = A2AServerDeps | A2AProcessDeps;

/** The server and agent to call. */
export interface A2AServerDeps {
  /** A server from `createServer` or `serve`. */
  readonly server: Pick<Server, "fetch">;
  /** The agent to call. Default: the first that declares a `defaultProjectId`; if none does, sending rejects with a `NotFoundError`. */
  readonly agentId?: string | undefined;
  /** Headers of the request, for example credentials. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A process manager that runs agents, and the functions that read agents and create sessions. */
export interface A2AProcessDeps {
  /** Passed to `listAgents` and `createSession`. If these are absent, the methods of the same names are called. */
  readonly db: unknown;
  readonly processManager: ProcessManager;
  /** All agents. Default: `db.listAgents()`. */
  listAgents?(db: unknown): ManagedAgents | Promise<ManagedAgents>;
  /** Creates a session. Default: `db.createSession(input)`. */
  createSession?(db: unknown, input: NewSession): ManagedSession | Promise<ManagedSession>;
}

/** Agents of a program with a process manager. A task is sent to the first one with a `defaultProjectId`. */
export type ManagedAgents = readonly { readonly id: string; readonly defaultProjectId?: string | null | undefined }[];

/** What a session is created with. */
export interface NewSession {
  readonly projectId: string;
  readonly agentId: string;
  readonly name: string;
  readonly initialPrompt: string;
  /** The session was started by another agent, and not by a person. */
  readonly source: "agent";
}

/** A session: one run of an agent. */
export interface ManagedSession {
  readonly id: string;
}

/**
 * What a session reports: `assistant` has a message of the agent, as a text or as a list of blocks with `text`; `session_exited` and `session_stopped`
 * complete the task; `error` fails it. Other types are ignored.
 */
export interface ProcessEvent {
  readonly type: string;
  readonly message?: { readonly content?: unknown } | undefined;
}

/** Called with the events of a session. */
export type ProcessListener = (sessionId: string, event: ProcessEvent) => void;

/** Starts the processes of sessions and reports what they do. */
export interface ProcessManager {
  startProcess(session: ManagedSession, prompt: string): unknown;
  /** May return a function that ends the subscription. */
  subscribe(sessionId: string, listener: ProcessListener): unknown;
  /** Called when the task has timed out. */
  stopProcess?(sessionId: string): unknown;
}
