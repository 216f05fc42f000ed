import type { ErrorCode, JsonObject, Part, Role, TaskState } from "palaver";
import type { Binding, Line } from "./line.ts";

/** What some clients cannot do, whoever serves them. */
export type Ability =
  | "any-data"
  | "credentials"
  | "extended-card"
  | "extensions"
  | "fallback"
  | "file-names"
  | "history-zero"
  | "lists"
  | "own-methods"
  | "part-metadata"
  | "references"
  | "status-refusals"
  | "stream-refusals"
  | "tenants"
  | "versions"
  | "webhook-lists";

/** What protocol versions answer differently, each in its own right. */
export interface Rules {
  /** Sending to a task that is not there. */
  readonly unknownTask: "task-not-found" | "a new task";
  /** Canceling a canceled task. */
  readonly repeatedCancel: "the task" | "task-not-cancelable";
  /** Subscribing to a finished task. */
  readonly finishedSubscribe: "the task" | "unsupported-operation";
  /** Asking for an extended card where there is none. */
  readonly noExtendedCard: "unsupported-operation" | "extended-card-not-configured";
  /** Calling without an extension that the agent requires. */
  readonly missingExtension: "extension-support-required" | "invalid-params";
  /** How data that is no object arrives. */
  readonly bareData: "as it is" | "as `value` of an object";
  /** Events say whether they are the last of their stream. */
  readonly marksLast: boolean;
  /** What webhooks are told: each event, or the task as it stands. */
  readonly pushes: "events" | "tasks";
}

/** One client library in one version: all that the scenarios need to know of it. */
export interface ClientLine extends Line<Ability> {
  readonly rules: Rules;
  /** Reads the card at an address and makes a client for what it finds there. */
  connect(address: string, options: ConnectOptions): Promise<Peer>;
  /** What an error says, in the client's own types where it has one for it. */
  nameOf(thrown: unknown): ErrorName;
  /** Reads the body of what a webhook was sent, by the client's own means as far as it has them. */
  readPush(body: unknown): SeenEvent;
}

/** An error, or one that the client has a type for but did not use it. */
export type ErrorName = ErrorCode | `untyped ${ErrorCode}` | `unknown: ${string}`;

export interface ConnectOptions {
  readonly binding: Binding;
  /** The client can do nothing but this binding; otherwise it prefers it. */
  readonly only?: boolean;
  readonly fetch: typeof fetch;
  /** Sent as soon as the server asks for it. */
  readonly credentials?: string;
}

/** A client that has found its agent. */
export interface Peer {
  /** The card it has found. */
  readonly card: SeenCard;
  send(saying: Saying, options?: CallOptions): Promise<Answer>;
  stream(saying: Saying, options?: CallOptions): AsyncIterable<SeenEvent>;
  get(id: string, options?: GetOptions): Promise<SeenTask>;
  list(query: ListQuery): Promise<SeenPage>;
  cancel(id: string): Promise<SeenTask>;
  subscribe(id: string, options?: CallOptions): AsyncIterable<SeenEvent>;
  extendedCard(): Promise<SeenCard>;
  readonly webhooks: {
    set(taskId: string, webhook: Webhook): Promise<Webhook>;
    /** Clients that know of one webhook at most ask for whichever there is. */
    get(taskId: string, id: string): Promise<Webhook>;
    list(taskId: string): Promise<readonly Webhook[]>;
    delete(taskId: string, id: string): Promise<void>;
  };
  /** What the client would not do by itself, having read the card. */
  readonly regardless: {
    stream(saying: Saying): AsyncIterable<SeenEvent>;
    subscribe(id: string): AsyncIterable<SeenEvent>;
    extendedCard(): Promise<SeenCard>;
    /** The operations on push configurations that it has. */
    readonly push: readonly ((taskId: string) => Promise<unknown>)[];
    /** A method nobody knows. */
    ownMethod(name: string): Promise<unknown>;
    /** As a caller of another version. */
    getAs(version: string, id: string): Promise<unknown>;
  };
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly extensions?: readonly string[];
}

export interface Saying {
  /** A text, or parts. */
  readonly content: string | readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly referenceTaskIds?: readonly string[];
  /** Of the message. */
  readonly metadata?: JsonObject;
  /** Of the request. */
  readonly requestMetadata?: JsonObject;
  /** Absent: the client's own way, which is to wait. */
  readonly wait?: boolean;
  readonly history?: number;
  readonly outputModes?: readonly string[];
  readonly tenant?: string;
  /** A webhook to be told of this task. */
  readonly push?: Webhook;
}

/** Where a caller wants to be told of a task. */
export interface Webhook {
  readonly id?: string | undefined;
  readonly url: string;
  readonly token?: string | undefined;
  readonly authentication?: { readonly scheme: string; readonly credentials?: string | undefined } | undefined;
}

export interface GetOptions {
  readonly history?: number;
  readonly tenant?: string;
}

export interface ListQuery {
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly since?: string | undefined;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly artifacts?: boolean;
  readonly history?: number;
}

/** `unknown`: the client was told a state it does not know, or none. */
export type SeenState = TaskState | "unknown";

export interface SeenMessage {
  readonly messageId: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

export interface SeenArtifact {
  readonly artifactId: string;
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject | undefined;
}

export interface SeenTask {
  readonly id: string;
  readonly contextId: string;
  readonly state: SeenState;
  readonly timestamp: string | undefined;
  /** The message of its status. */
  readonly message: SeenMessage | undefined;
  readonly artifacts: readonly SeenArtifact[];
  readonly history: readonly SeenMessage[];
}

export type Answer =
  | { readonly kind: "task"; readonly task: SeenTask }
  | { readonly kind: "message"; readonly message: SeenMessage };

export type SeenEvent =
  | Answer
  | {
      readonly kind: "status";
      readonly taskId: string;
      readonly state: SeenState;
      readonly message: SeenMessage | undefined;
      /** In versions that say which event is the last. */
      readonly final: boolean | undefined;
    }
  | { readonly kind: "artifact"; readonly taskId: string; readonly artifact: SeenArtifact };

export interface SeenPage {
  readonly tasks: readonly SeenTask[];
  readonly total: number;
  readonly pageSize: number;
  readonly next: string;
}

export interface SeenCard {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly streaming: boolean;
  readonly skills: readonly string[];
  readonly inputModes: readonly string[];
  readonly extensions: readonly string[];
  /** The kinds of its security schemes, as OpenAPI calls them, by name. */
  readonly schemes: Readonly<Record<string, string>>;
  /** Scopes by name of scheme; any one of these will do. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}
