/** Version-independent types of the suite. Speakers translate to and from them. */

export type State =
  | "submitted"
  | "working"
  | "input-required"
  | "auth-required"
  | "completed"
  | "failed"
  | "canceled"
  | "rejected";

export type Fields = Readonly<Record<string, unknown>>;

/** Replaces an id that the version has no member for. */
export const NO_SUCH_MEMBER = "";

/** Exactly one of `text`, `raw` (base64), `url` and `data`. */
export interface Part {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: Fields;
}

export interface Message {
  readonly messageId: string;
  readonly role: "user" | "agent";
  readonly parts: readonly Part[];
  readonly contextId?: string;
  readonly taskId?: string;
  readonly referenceTaskIds?: readonly string[];
  readonly extensions?: readonly string[];
  readonly metadata?: Fields;
}

export interface Status {
  readonly state: State;
  readonly message?: Message;
  readonly timestamp: string;
}

export interface Artifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts: readonly Part[];
  readonly extensions?: readonly string[];
  readonly metadata?: Fields;
}

export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: Status;
  readonly artifacts?: readonly Artifact[];
  readonly history?: readonly Message[];
  readonly metadata?: Fields;
}

export type Sent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message };

/** The content of one stream frame. */
export type StreamEvent =
  | Sent
  | {
      readonly kind: "status";
      readonly taskId: string;
      readonly contextId: string;
      readonly status: Status;
      /** `undefined` if the version has no such member. */
      readonly final: boolean | undefined;
      readonly metadata?: Fields;
    }
  | {
      readonly kind: "artifact";
      readonly taskId: string;
      readonly contextId: string;
      readonly artifact: Artifact;
      readonly append: boolean;
      readonly lastChunk: boolean;
      readonly metadata?: Fields;
    };

/** A frame with the event id to resume from. */
export type Frame = StreamEvent & { readonly id: string | undefined };

/** A page of tasks. Versions without pages leave the other members undefined. */
export interface Page {
  readonly tasks: readonly Task[];
  readonly nextPageToken: string | undefined;
  readonly pageSize: number | undefined;
  readonly totalSize: number | undefined;
}

/** A webhook: the address and the credentials for notifications about a task. */
export interface Webhook {
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  readonly authentication?: { readonly schemes: readonly string[]; readonly credentials?: string };
  readonly headers?: Readonly<Record<string, string>>;
  readonly events?: readonly ("status" | "artifact")[];
}

/** Webhooks of a task, in order. Versions without pages leave the token undefined. */
export interface Webhooks {
  readonly webhooks: readonly Webhook[];
  readonly nextPageToken: string | undefined;
}

const TERMINAL: readonly State[] = ["completed", "failed", "canceled", "rejected"];

export function isTerminal(state: State): boolean {
  return TERMINAL.includes(state);
}

/** The text of all artifacts of a task. */
export function outputOf({ artifacts = [] }: Task): string {
  return artifacts.map(({ parts }) => textOf(parts)).join("");
}

export function textOf(parts: readonly Part[] = []): string {
  return parts.map(({ text = "" }) => text).join("");
}
