import type { ErrorCode, JsonObject, Part, Role, TaskState } from "palaver";
import type { Binding, Line } from "./line.ts";

/** Features that some clients lack, with any server. */
export type Ability =
  | "any-data"
  | "credentials"
  | "extended-card"
  | "extensions"
  | "fallback"
  | "file-names"
  | "history-zero"
  | "json-answers"
  | "recorded-calls"
  | "lists"
  | "null-data"
  | "own-methods"
  | "part-metadata"
  | "references"
  | "status-refusals"
  | "stream-refusals"
  | "tenants"
  | "versions"
  | "webhook-lists";

/** Differences in behaviour between protocol versions. */
export interface Rules {
  /** The response to a message for an unknown task. */
  readonly unknownTask: "task-not-found" | "a new task";
  /** The response to canceling a canceled task. */
  readonly repeatedCancel: "the task" | "task-not-cancelable";
  /** The response to subscribing to a finished task. */
  readonly finishedSubscribe: "the task" | "unsupported-operation";
  /** The response to a request for an extended card if there is none. */
  readonly noExtendedCard: "unsupported-operation" | "extended-card-not-configured";
  /** The response to a call without a required extension. */
  readonly missingExtension: "extension-support-required" | "invalid-params";
  /** How data that is not an object arrives. */
  readonly bareData: "as it is" | "as `value` of an object";
  /** Events say whether they are the last of their stream. */
  readonly marksLast: boolean;
  /** What webhooks receive: each event, or the whole task. */
  readonly pushes: "events" | "tasks";
}

/** One client library in one version, with everything that the scenarios need. */
export interface ClientLine extends Line<Ability> {
  readonly rules: Rules;
  /** Reads the card at an address and creates a client for it. */
  connect(address: string, options: ConnectOptions): Promise<Peer>;
  /** The name of an error, by the client's own type if it has one. */
  nameOf(thrown: unknown): ErrorName;
  /** Reads the body of a notification, with the client's own functions as far as it has them. */
  readPush(body: unknown): SeenEvent;
}

/** An error, or an error that the client has a type for but did not use. */
export type ErrorName = ErrorCode | `untyped ${ErrorCode}` | `unknown: ${string}`;

export interface ConnectOptions {
  readonly binding: Binding;
  /** The client supports only this binding; otherwise it prefers it. */
  readonly only?: boolean;
  readonly fetch: typeof fetch;
  /** Sent as soon as the server requires it. */
  readonly credentials?: string;
}

/** A client that has found its agent. */
export interface Peer {
  /** The card that the client read. */
  readonly card: SeenCard;
  send(request: SendRequest, options?: CallOptions): Promise<Answer>;
  stream(request: SendRequest, options?: CallOptions): AsyncIterable<SeenEvent>;
  get(id: string, options?: GetOptions): Promise<SeenTask>;
  list(query: ListQuery): Promise<SeenPage>;
  cancel(id: string): Promise<SeenTask>;
  subscribe(id: string, options?: CallOptions): AsyncIterable<SeenEvent>;
  extendedCard(): Promise<SeenCard>;
  readonly webhooks: {
    set(taskId: string, webhook: Webhook): Promise<Webhook>;
    /** Clients that support only one webhook read that one. */
    get(taskId: string, id: string): Promise<Webhook>;
    list(taskId: string): Promise<readonly Webhook[]>;
    delete(taskId: string, id: string): Promise<void>;
  };
  /** Requests that the client would not send by itself after reading the card. */
  readonly regardless: {
    stream(request: SendRequest): AsyncIterable<SeenEvent>;
    subscribe(id: string): AsyncIterable<SeenEvent>;
    extendedCard(): Promise<SeenCard>;
    /** The client's operations on webhooks. */
    readonly push: readonly ((taskId: string) => Promise<unknown>)[];
    /** Calls an unknown method. */
    ownMethod(name: string): Promise<unknown>;
    /** Sends the request as a caller of another version. */
    getAs(version: string, id: string): Promise<unknown>;
  };
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly extensions?: readonly string[];
}

export interface SendRequest {
  /** A text, or parts. */
  readonly content: string | readonly Part[];
  readonly taskId?: string;
  readonly contextId?: string;
  readonly referenceTaskIds?: readonly string[];
  /** Metadata of the message. */
  readonly metadata?: JsonObject;
  /** Metadata of the request. */
  readonly requestMetadata?: JsonObject;
  /** Absent: the client's default, which is to wait. */
  readonly wait?: boolean;
  readonly history?: number;
  readonly outputModes?: readonly string[];
  readonly tenant?: string;
  /** A webhook for this task. */
  readonly push?: Webhook;
}

/** The address and credentials for notifications about a task. */
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

/** `unknown`: the client received an unknown state, or none. */
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
      /** Only in versions that mark the last event. */
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
  /** The kinds of its security schemes by name, with the names of OpenAPI. */
  readonly schemes: Readonly<Record<string, string>>;
  /** Scopes by name of scheme; any one of the entries is sufficient. */
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
}
