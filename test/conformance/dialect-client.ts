import type { HttpAnswer } from "./http.ts";
import type { Fields, Frame, Page, Part, Sent, State, StreamEvent, Task, Webhook, Webhooks } from "./neutral.ts";
import type { Refusal, RefusalName } from "./refusals.ts";

export type Version = "1.0" | "0.3" | "0.2" | "0.1";
export type Dialect =
  | "1.0/jsonrpc"
  | "1.0/rest"
  | "1.0/grpc"
  | "0.3/jsonrpc"
  | "0.3/rest-json"
  | "0.3/rest-proto"
  | "0.3/grpc"
  | "0.2/jsonrpc"
  | "0.1/jsonrpc";

/**
 * A client of one dialect, written by hand and over real HTTP. The client builds each request from the protocol's own
 * definitions, checks every response against them (members, state names, envelope, content type, HTTP status), and
 * returns the content in version-independent form.
 */
export interface DialectClient {
  readonly dialect: Dialect;
  readonly version: Version;
  readonly binding: "jsonrpc" | "rest" | "grpc";
  readonly rules: Rules;
  /** Removes what this dialect cannot express. Absent: the dialect can express everything in this suite. */
  readonly reduction?: Reduction;
  /** Reads the body of a notification to a webhook that was set in this dialect. */
  readPushed(value: unknown): StreamEvent;
  /** Calls the agent at this address, which has no trailing slash. */
  at(address: string, callerOptions?: CallerOptions): Caller;
}

/** Reduces tasks and frames to what a dialect can express. */
export interface Reduction {
  task(task: Task): Task;
  /** Takes a whole stream, from its first frame on. */
  frames(frames: readonly Frame[]): readonly Frame[];
}

/** Differences in behaviour between dialects, beyond the wire format. */
export interface Rules {
  /** Whether a send waits if the request does not say. */
  readonly waitsByDefault: boolean;
  /** Whether a send can request to wait. If not, the test's server makes all sends wait. */
  readonly canAskToWait: boolean;
  /** Who chooses the id of a new task: always the caller, optionally the caller, or never the caller. */
  readonly namesTasks: "always" | "may" | "never";
  /** How an agent's bare message is returned. */
  readonly reply: "message" | "task";
  /** The history length that requests the whole history; `undefined`: the history is always returned. */
  readonly wholeHistory: number | undefined;
  /** The meaning of history length 0. */
  readonly zeroHistory: "none" | "all";
  /** The response to a subscription to a finished task. */
  readonly finishedSubscribe: "UnsupportedOperation" | "snapshot";
  /** The response to canceling a canceled task. */
  readonly repeatedCancel: "TaskNotCancelable" | "snapshot";
  readonly list: "pages" | "array" | "none";
  /** The error for an undeclared extended card; `undefined`: the dialect has no such request. */
  readonly undeclaredExtendedCard: "UnsupportedOperation" | "ExtendedCardNotConfigured" | undefined;
  /** The error for a caller without an extended card; absent: "not configured". */
  readonly deniedExtendedCard?: RefusalName;
  readonly undeclaredStreaming: RefusalName;
  /** The error for a message to a finished task. */
  readonly finishedSend: RefusalName;
  /** Whether a task can have several webhooks, each with an id, which can be listed and deleted. */
  readonly managesPush: boolean;
  readonly push: PushRules;
  /** The error for a missing required extension. */
  readonly requiredExtension: RefusalName;
  readonly extensionsHeader: "A2A-Extensions" | "X-A2A-Extensions";
  /** States that the version does not have, and the states sent instead. */
  readonly insteadOf: Readonly<Partial<Record<State, State>>>;
  /** Whether messages have ids, and the ids of their task and context. */
  readonly messageIds: boolean;
  /** Whether messages and artifacts list extensions. */
  readonly listsExtensions: boolean;
  /** Whether messages can refer to other tasks. */
  readonly referenceTaskIds: boolean;
  /** Errors are a status and a text, without further data. */
  readonly errorsAreText?: true;
  /** Whether servers must also accept snake_case member names. */
  readonly snakeCase: boolean;
}

/** The content of notifications, and the wire format of webhooks. */
export interface PushRules {
  /** Each event, or the whole task. */
  readonly sends: "events" | "tasks";
  readonly mediaType: string;
  /** Whether a token also serves as the bearer credentials of the notification. */
  readonly tokenAsBearer: boolean;
  /** What happens to a webhook after failed deliveries. */
  readonly afterFailure: "removed" | "suspended";
  /** The names of the URL field, in a create request and in a send. */
  readonly fields: { readonly create: string; readonly send: string };
  /** The members of a webhook in responses. */
  readonly responseFields: readonly (keyof Webhook)[];
  /** Whether responses contain all authentication schemes or the first. */
  readonly schemes: "all" | "first";
}

/** Options of a caller's requests. */
export interface CallerOptions {
  /** The caller's token; absent: anonymous. */
  readonly token?: string;
  readonly tenant?: string;
  /** Where REST requests carry the tenant. Default: in the path. */
  readonly tenantIn?: "path" | "query" | "body";
  readonly extensions?: readonly string[];
  /** Value of `A2A-Version` instead of the client's own version; `null`: no header. */
  readonly version?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes the JSON of a request before it is sent. */
  readonly alter?: (body: Fields) => unknown;
  /** The edition whose HTTP statuses REST 1.0 errors must have. Default: the newest. */
  readonly edition?: "1.0.1" | "1.0.0";
  /**
   * The style of REST 0.3 responses to requests without a body, if the task was not created over REST 0.3; if it was,
   * both styles are accepted. Default: the style of the client's own bodies, and no other is accepted.
   */
  readonly bodyless?: "proto" | "json";
  /** Send a body that shows the caller's style where REST can omit the body. */
  readonly showStyle?: boolean;
}

/** A message to send. An id is generated if none is given. */
export interface MessageInput {
  readonly parts: readonly Part[];
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly extensions?: readonly string[];
  readonly metadata?: Fields;
}

export interface SendOptions {
  /** Absent: the request does not say. */
  readonly wait?: boolean;
  readonly history?: number | undefined;
  readonly outputModes?: readonly string[];
  /** The request's own metadata. */
  readonly metadata?: Fields;
  /** A webhook in the send request. */
  readonly push?: Webhook | string;
  /** The id of the last event received. */
  readonly after?: string;
}

export interface ListQuery {
  readonly contextId?: string;
  readonly state?: State;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly history?: number;
  readonly since?: string;
  readonly artifacts?: boolean;
}

export interface Caller {
  send(messageInput: MessageInput, options?: SendOptions): Promise<Outcome<Sent>>;
  stream(messageInput: MessageInput, options?: SendOptions): Promise<Outcome<Stream>>;
  get(id: string, history?: number): Promise<Outcome<Task>>;
  list(query?: ListQuery): Promise<Outcome<Page>>;
  cancel(id: string, metadata?: Fields): Promise<Outcome<Task>>;
  subscribe(id: string, after?: string): Promise<Outcome<Stream>>;
  extendedCard(): Promise<Outcome<Fields>>;
  pushCreate(taskId: string, webhook: Webhook | string): Promise<Outcome<Webhook>>;
  /**
   * Without an id: the server's choice. `undefined`: there is none, and the version defines this as a valid response.
   */
  pushGet(taskId: string, id?: string): Promise<Outcome<Webhook | undefined>>;
  pushList(taskId: string, page?: Pick<ListQuery, "pageSize" | "pageToken">): Promise<Outcome<Webhooks>>;
  pushDelete(taskId: string, id: string): Promise<Outcome<unknown>>;
}

/** The outcome of a request. */
export type Outcome<T> = (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal }
) & {
  /** The raw response; for a stream, without its text. */
  readonly http: HttpAnswer;
};

/** Frames as they arrive. */
export interface Stream {
  /** `undefined` when the server has closed the stream. */
  next(): Promise<Frame | undefined>;
  /** The frames up to and including the first that matches. Throws if none matches. */
  until(wanted: (frame: Frame) => boolean): Promise<readonly Frame[]>;
  /** All remaining frames. */
  rest(): Promise<readonly Frame[]>;
  close(): Promise<void>;
}

/** The state that readers of this dialect receive for a task in this state. */
export function receivedState({ rules }: DialectClient, state: State): State {
  return rules.insteadOf[state] ?? state;
}

/** The result; throws if the request was refused. */
export async function accepted<T>(outcome: Outcome<T> | Promise<Outcome<T>>): Promise<T> {
  const result = await outcome;
  if (result.ok) return result.value;
  throw new Error(`Refused as ${result.refusal.name}: ${result.http.text}`);
}

/** The refusal; throws if the request succeeded. */
export async function refused(outcome: Outcome<unknown> | Promise<Outcome<unknown>>): Promise<Refusal> {
  const result = await outcome;
  if (!result.ok) return result.refusal;
  throw new Error(`Not refused: ${result.http.text}`);
}

/** The name of the refusal's error. */
export async function refusalOf(outcome: Outcome<unknown> | Promise<Outcome<unknown>>): Promise<RefusalName> {
  return (await refused(outcome)).name;
}

/** The task that a send returned; throws if it returned none. */
export async function taskOf(outcome: Outcome<Sent> | Promise<Outcome<Sent>>): Promise<Task> {
  const sent = await accepted(outcome);
  if (sent.kind === "task") return sent.task;
  throw new Error("Answered with a message, not a task.");
}

export function text(words: string): MessageInput {
  return { parts: [{ text: words }] };
}
