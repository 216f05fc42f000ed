/** The part of a cell that a test compares: the scenario works with this peer, or the reason why it cannot. */
export type Expectation = "works" | { readonly cannot: string };

/** A package from npm that speaks A2A. */
export interface Package {
  /** As people call it. */
  readonly name: string;
  /** The npm package that has the A2A code. */
  readonly package: string;
  /** The version whose wire behaviour was written down, and that `npm run peers` installs. */
  readonly version: string;
  /** The version of the protocol it uses, and its binding. */
  readonly protocol: string;
}

export interface FileContent {
  readonly name: string;
  readonly mediaType: string;
  readonly base64: string;
}

/** One message of a user to an agent, by way of a client. */
export interface Turn {
  readonly text: string;
  readonly file?: FileContent;
  /** `send` waits for one answer, `stream` reads events. */
  readonly mode: "send" | "stream";
}

/** What the application that uses the client gets to see. */
export interface Answer {
  /** The text, put together as the client does it. */
  readonly text: string;
  /** The state of the task, where the client shows it. */
  readonly state?: string;
  /** Base64 of the files, where the client shows them. */
  readonly files?: readonly string[];
  /** Text that the client passes on only as an event it does not understand. */
  readonly raw?: string;
}

/** One conversation of a client with an agent. It keeps the ids that the client keeps between two turns, and no others. */
export interface Conversation {
  /** Throws where the client throws, and `NotOffered` where the client has no such thing. */
  turn(turn: Turn): Promise<Answer>;
  /** Starts a task, cancels it as soon as its id is known, and gives the state that the client ends with. */
  cancel?(text: string): Promise<string>;
}

/** A client: a script of its requests and of the way it reads answers, or the real one. */
export interface ClientPeer extends Package {
  readonly expected: Readonly<Record<ClientScenarioName, Expectation>>;
  /** `url` is the address of the agent, without a slash at the end. */
  open(url: string): Promise<Conversation>;
}

/** A server with the agent of `server-script.ts` behind it: a script of its card and answers, or the real one. */
export interface ServerPeer extends Package {
  readonly expected: Readonly<Record<ServerScenarioName, Expectation>>;
  start(): Promise<RunningPeer>;
}

export interface RunningPeer {
  /** What a user would give to `connect`. */
  readonly url: string;
  /** Where the card is, where it is at an unusual place. */
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

/** Thrown by a conversation that is asked for something its client does not have. */
export class NotOffered extends Error {
  override readonly name = "NotOffered";

  constructor(what: string) {
    super(`The client has no such thing: ${what}.`);
  }
}

export function cannot(reason: string): Expectation {
  return { cannot: reason };
}
