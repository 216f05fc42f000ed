import type { HttpAnswer } from "./http.ts";
import type { Fields, Frame, Page, Part, Sent, State, Task, Told, Webhook, Webhooks } from "./neutral.ts";
import type { Refusal, RefusalName } from "./refusals.ts";

export type Version = "1.0" | "0.3" | "0.2" | "0.1";
export type Dialect =
  | "1.0/jsonrpc"
  | "1.0/rest"
  | "0.3/jsonrpc"
  | "0.3/rest-json"
  | "0.3/rest-proto"
  | "0.2/jsonrpc"
  | "0.1/jsonrpc";

/**
 * One dialect, spelt by hand and over real HTTP. A speaker builds each request from the protocol's own definitions, holds every
 * answer against them (members, spelling of states, envelope, content type, HTTP status), and gives back what it says.
 */
export interface Speaker {
  readonly dialect: Dialect;
  readonly version: Version;
  readonly binding: "jsonrpc" | "rest";
  readonly rules: Rules;
  /** What is left of things as others tell them. Absent: this dialect has words for all there is in this suite. */
  readonly lessens?: Lessening;
  /** Reads the body of what a webhook is sent that was set in this dialect. */
  readPushed(value: unknown): Told;
  /** Speaks to the agent at this address, which has no slash at its end. */
  at(address: string, manner?: Manner): Caller;
}

/** A dialect that cannot say all that others can makes the same of everything, whoever made it. */
export interface Lessening {
  task(task: Task): Task;
  /** Of a whole stream, from its first frame on. */
  frames(frames: readonly Frame[]): readonly Frame[];
}

/** Where dialects differ by rule in what happens, and not only in how it is spelt. */
export interface Rules {
  /** What a send does that does not say whether to wait. */
  readonly waitsByDefault: boolean;
  /** Whether a send can say that it wants to wait. If not, the server of a test is told to wait with all of them. */
  readonly canAskToWait: boolean;
  /** Who names a new task: always its caller, its caller if it likes, or never its caller. */
  readonly namesTasks: "always" | "may" | "never";
  /** What an agent's bare message is told as. */
  readonly reply: "message" | "task";
  /** What to ask for to be told the whole history; `undefined`: nothing, all of it is told unasked. */
  readonly wholeHistory: number | undefined;
  /** What a history length of 0 asks for. */
  readonly zeroHistory: "none" | "all";
  /** What subscribing to a finished task gets. */
  readonly finishedSubscribe: "UnsupportedOperation" | "snapshot";
  /** What canceling a canceled task gets. */
  readonly repeatedCancel: "TaskNotCancelable" | "snapshot";
  readonly list: "pages" | "array" | "none";
  /** What is told to who asks for an extended card that there is not; `undefined`: nobody can ask. */
  readonly undeclaredExtendedCard: "UnsupportedOperation" | "ExtendedCardNotConfigured" | undefined;
  /** What a caller gets for whom there is no extended card; absent: the card is not configured. */
  readonly deniedExtendedCard?: RefusalName;
  readonly undeclaredStreaming: RefusalName;
  /** What sending a message to a finished task gets. */
  readonly finishedSend: RefusalName;
  /** Whether a task can have several webhooks, each with an id, which can be listed and deleted. */
  readonly managesPush: boolean;
  readonly push: PushRules;
  /** What is told where a required extension is not asked for. */
  readonly requiredExtension: RefusalName;
  readonly extensionsHeader: "A2A-Extensions" | "X-A2A-Extensions";
  /** States that the version does not have, and what is told instead. */
  readonly insteadOf: Readonly<Partial<Record<State, State>>>;
  /** Whether messages have ids and say which task and context they belong to. */
  readonly messageIds: boolean;
  /** Whether messages and artifacts say which extensions they follow. */
  readonly listsExtensions: boolean;
  /** Whether messages can say which tasks they refer to. */
  readonly referenceTaskIds: boolean;
  /** Whether readers must also take the names of the definition, with underscores. */
  readonly snakeCase: boolean;
}

/** What webhooks are told, and how they are spoken of. */
export interface PushRules {
  /** Each event by itself, or the task as it stands. */
  readonly sends: "events" | "tasks";
  readonly mediaType: string;
  /** Whether a token also counts as the credentials of the notification. */
  readonly tokenAsBearer: boolean;
  /** What becomes of a webhook that cannot be told. */
  readonly afterFailure: "removed" | "suspended";
  /** What callers call the address of a webhook, where it is set and where it comes with a message. */
  readonly fields: { readonly create: string; readonly send: string };
  /** The members of a webhook that answers have. */
  readonly tells: readonly (keyof Webhook)[];
  /** Whether answers have all schemes of authentication, or the first. */
  readonly schemes: "all" | "first";
}

/** How a caller puts its requests, besides what it asks. */
export interface Manner {
  /** Who calls; nobody in particular if absent. */
  readonly token?: string;
  readonly tenant?: string;
  /** Where REST names the tenant. Default: in the path. */
  readonly tenantIn?: "path" | "query" | "body";
  readonly extensions?: readonly string[];
  /** What `A2A-Version` says instead of the speaker's own version; `null`: nothing. */
  readonly version?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes the JSON of a request before it is sent. */
  readonly alter?: (body: Fields) => unknown;
  /** Which edition's statuses the errors of REST 1.0 must have. Default: the newest. */
  readonly edition?: "1.0.1" | "1.0.0";
  /**
   * How REST 0.3 is answered where a request has no body and its task was not made over REST 0.3; where it was, answers of either style are
   * read. Default: as the speaker's own bodies are, and no other style is read.
   */
  readonly bodyless?: "proto" | "json";
  /** Where REST can do without a body, send one that shows the style of the caller. */
  readonly showStyle?: boolean;
}

/** A message to send. An id is made where none is given. */
export interface Saying {
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
  /** A webhook that comes with the message. */
  readonly push?: Webhook | string;
  /** The id of the last event that was seen. */
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
  send(saying: Saying, options?: SendOptions): Promise<Outcome<Sent>>;
  stream(saying: Saying, options?: SendOptions): Promise<Outcome<Stream>>;
  get(id: string, history?: number): Promise<Outcome<Task>>;
  list(query?: ListQuery): Promise<Outcome<Page>>;
  cancel(id: string, metadata?: Fields): Promise<Outcome<Task>>;
  subscribe(id: string, after?: string): Promise<Outcome<Stream>>;
  extendedCard(): Promise<Outcome<Fields>>;
  pushCreate(taskId: string, webhook: Webhook | string): Promise<Outcome<Webhook>>;
  /** Without an id: whichever the server has. `undefined`: there is none, and the version calls that an answer. */
  pushGet(taskId: string, id?: string): Promise<Outcome<Webhook | undefined>>;
  pushList(taskId: string, page?: Pick<ListQuery, "pageSize" | "pageToken">): Promise<Outcome<Webhooks>>;
  pushDelete(taskId: string, id: string): Promise<Outcome<unknown>>;
}

/** What came of a request. */
export type Outcome<T> = (
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: Refusal }
) & {
  /** The answer as it was; of a stream, without its text. */
  readonly http: HttpAnswer;
};

/** Frames as they come. */
export interface Stream {
  /** `undefined` when the server has closed. */
  next(): Promise<Frame | undefined>;
  /** The frames up to the one that is wanted, which is among them. Throws if there is none such. */
  until(wanted: (frame: Frame) => boolean): Promise<readonly Frame[]>;
  /** All that is left. */
  rest(): Promise<readonly Frame[]>;
  close(): Promise<void>;
}

/** What readers of this dialect are told of a task in this state. */
export function toldState({ rules }: Speaker, state: State): State {
  return rules.insteadOf[state] ?? state;
}

/** What was answered; throws if it was refused. */
export async function accepted<T>(outcome: Outcome<T> | Promise<Outcome<T>>): Promise<T> {
  const result = await outcome;
  if (result.ok) return result.value;
  throw new Error(`Refused as ${result.refusal.name}: ${result.http.text}`);
}

/** How it was refused; throws if it was answered. */
export async function refused(outcome: Outcome<unknown> | Promise<Outcome<unknown>>): Promise<Refusal> {
  const result = await outcome;
  if (!result.ok) return result.refusal;
  throw new Error(`Not refused: ${result.http.text}`);
}

/** The name of the error it was refused with. */
export async function refusalOf(outcome: Outcome<unknown> | Promise<Outcome<unknown>>): Promise<RefusalName> {
  return (await refused(outcome)).name;
}

/** The task a send was answered with; throws if there is none. */
export async function taskOf(outcome: Outcome<Sent> | Promise<Outcome<Sent>>): Promise<Task> {
  const sent = await accepted(outcome);
  if (sent.kind === "task") return sent.task;
  throw new Error("Answered with a message, not a task.");
}

export function text(words: string): Saying {
  return { parts: [{ text: words }] };
}
