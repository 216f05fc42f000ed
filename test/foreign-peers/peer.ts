/** The expected result of a cell: the scenario works with this peer, or the reason why it cannot. */
export type Expectation = "works" | { readonly cannot: string };

/** An npm package that implements A2A. */
export interface Package {
  /** The common name of the project. */
  readonly name: string;
  /** The npm package that contains the A2A code. */
  readonly package: string;
  /** The version whose wire behaviour the script reproduces, and that `npm run peers` installs. */
  readonly version: string;
  /** The version of the protocol it uses, and its binding. */
  readonly protocol: string;
}

export interface FileContent {
  readonly name: string;
  readonly mediaType: string;
  readonly base64: string;
}

/** One message of a user to an agent, sent by a client. */
export interface Turn {
  readonly text: string;
  readonly file?: FileContent;
  /** `send` waits for one response, `stream` reads events. */
  readonly mode: "send" | "stream";
}

/** The result that the client gives to the application. */
export interface Answer {
  /** The text, combined as the client does it. */
  readonly text: string;
  /** The state of the task, if the client shows it. */
  readonly state?: string;
  /** The files in base64, if the client shows them. */
  readonly files?: readonly string[];
  /** Text that the client passes on only as an event it does not understand. */
  readonly raw?: string;
}

/**
 * One conversation of a client with an agent. It keeps the ids that the client keeps between two turns, and no others.
 */
export interface Conversation {
  /** Throws if the client throws, and `NotOffered` if the client does not have the feature. */
  turn(turn: Turn): Promise<Answer>;
  /** Starts a task, cancels it as soon as its id is known, and returns the client's final state. */
  cancel?(text: string): Promise<string>;
}

/** A client: a script of its requests and of how it reads responses, or the real client. */
export interface ClientPeer extends Package {
  readonly expected: Readonly<Record<ClientScenarioName, Expectation>>;
  /** `url` is the address of the agent, without a trailing slash. */
  open(url: string): Promise<Conversation>;
}

/** A server with the agent of `server-script.ts`: a script of its card and responses, or the real server. */
export interface ServerPeer extends Package {
  readonly expected: Readonly<Record<ServerScenarioName, Expectation>>;
  start(): Promise<RunningPeer>;
}

export interface RunningPeer {
  /** The address that a user would pass to `connect`. */
  readonly url: string;
  /** The address of the card, if it is not the usual one. */
  readonly cardUrl?: string;
  close(): Promise<void>;
}

export const CLIENT_SCENARIOS = [
  "text, sent",
  "text, streamed",
  "answered with a message",
  "300 tokens, sent",
  "300 tokens, streamed",
  "text, streamed, then a pause",
  "question and answer",
  "file to the agent",
  "file from the agent",
  "failed task",
  "cancel a running task",
] as const;
export type ClientScenarioName = (typeof CLIENT_SCENARIOS)[number];

export const SERVER_SCENARIOS = [
  "card found from the address",
  "text, sent",
  "text, streamed",
  "300 tokens, streamed",
  "two messages in one context",
  "question and answer",
  "failed task",
  "cancel a running task",
  "list of tasks",
  "text, through remoteAgent",
  "file, through remoteAgent",
] as const;
export type ServerScenarioName = (typeof SERVER_SCENARIOS)[number];

/** Thrown by a conversation when its client does not have the requested feature. */
export class NotOffered extends Error {
  override readonly name = "NotOffered";

  constructor(what: string) {
    super(`The client does not have this feature: ${what}.`);
  }
}

export function cannot(reason: string): Expectation {
  return { cannot: reason };
}
