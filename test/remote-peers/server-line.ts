import type { RemoteErrorCode } from "../../src/client.ts";
import type { Binding, Line } from "../peers/line.ts";
import type { Pace } from "./agent-script.ts";

/** What some servers do not have, whoever calls them. */
export type Ability =
  | "content-types"
  | "context-check"
  | "extended-card"
  | "extensions"
  | "file-names"
  | "history-in-sends"
  | "history-zero"
  | "lists"
  | "owners"
  | "part-metadata"
  | "push-many"
  | "push-with-message"
  | "references"
  | "stream-refusals"
  | "unknown-methods"
  | "versions";

/** What protocol versions and lines of servers answer differently, each in its own right. */
export interface Rules {
  /** Sending to a finished task. */
  readonly finishedTask: RemoteErrorCode;
  /** Asking for a push configuration that is not there. */
  readonly unknownPush: RemoteErrorCode;
  /** Canceling a canceled task. */
  readonly repeatedCancel: "the task" | "task-not-cancelable";
}

/** The agents that a line can be asked to serve: the same script behind different cards. */
export const PROFILES = {
  able: "streams, notifies, and has more to show to those it knows",
  bare: "does nothing of that",
  unprepared: "promises an extended card and has none",
  demanding: "requires an extension",
  plain: "takes plain text only",
  ahead: "is of a later version than its callers",
} as const;
export type Profile = keyof typeof PROFILES;

export const REQUIRED_EXTENSION = "https://example.org/extensions/required";

export interface StartOptions {
  readonly binding: Binding;
  readonly profile?: Profile;
  /** The address that the card names, where that is not the server's own. */
  readonly reachedAt?: (url: string) => Promise<string>;
  readonly pace?: Pace;
}

/** An official server that listens. */
export interface OfficialServer {
  readonly url: string;
  close(): Promise<void>;
}

/** One server library in one version: all that the scenarios need to know of it. */
export interface ServerLine extends Line<Ability> {
  readonly rules: Rules;
  start(options: StartOptions): Promise<OfficialServer>;
}
