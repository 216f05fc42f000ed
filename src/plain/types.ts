import type { Server } from "../platform/create-server.ts";

/** A task that waits for its caller is `working`; one that was canceled or rejected has `failed`. */
export type A2ATaskState = "submitted" | "working" | "completed" | "failed";

export interface A2AMessage {
  readonly role: "user" | "agent";
  readonly parts: readonly { readonly type: "text"; readonly text: string }[];
}

export interface A2ATask {
  readonly id: string;
  readonly state: A2ATaskState;
  /** Oldest first. The last one of the agent is its answer. */
  readonly messages: readonly A2AMessage[];
  /** Groups the tasks of one conversation. */
  readonly sessionId: string;
  /** In UTC, with milliseconds and `Z`. */
  readonly createdAt: string;
  /** When its state, or what it says of itself, last changed. */
  readonly updatedAt: string;
}

/** What `tasks/send` takes: bare, or under `params`. */
export type A2ATaskSendRequest = A2ATaskParameters | { readonly params: A2ATaskParameters };

interface A2ATaskParameters {
  readonly message: string | MessageToSend;
  /** The id of the skill that is to do it. Default: as the agent sees fit. */
  readonly skill?: string | undefined;
  /** Milliseconds the task may work before it fails. Default 300 000. */
  readonly timeoutMs?: number | undefined;
  /** Puts the task into this session. Default: one of its own. */
  readonly sessionId?: string | undefined;
  /** Goes on with this task, which must not have ended. */
  readonly taskId?: string | undefined;
}

interface MessageToSend {
  readonly role?: "user" | undefined;
  readonly parts: readonly { readonly type?: "text" | undefined; readonly text: string }[];
}

/** Who does the work. */
export interface A2ATaskDeps {
  /** From `createServer` or `serve`. */
  readonly server: Pick<Server, "fetch">;
  /** The agent that is called. Default: the first that declares a `defaultProjectId`; where none does, sending rejects with a `NotFoundError`. */
  readonly agentId?: string | undefined;
  /** Tell the server who calls, where it wants to know. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}
