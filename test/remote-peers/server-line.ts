import type { RemoteErrorCode } from "../../src/client.ts";
import type { Binding, Line } from "../peers/line.ts";
import type { Pace } from "./agent-script.ts";

/** Features that some servers lack, with any client. */
export type Ability =
  | "content-types"
  | "context-check"
  | "extended-card"
  | "extensions"
  | "file-names"
  | "history-in-sends"
  | "history-zero"
  | "lists"
  | "null-data"
  | "owners"
  | "part-metadata"
  | "push-many"
  | "push-with-message"
  | "references"
  | "stream-refusals"
  | "unknown-methods"
  | "versions";

/** Differences in behaviour between protocol versions and server libraries. */
export interface Rules {
  /** The response to a message for a finished task. */
  readonly finishedTask: RemoteErrorCode;
  /** The response to a request for an unknown webhook. */
  readonly unknownPush: RemoteErrorCode;
  /** The response to canceling a canceled task. */
  readonly repeatedCancel: "the task" | "task-not-cancelable";
}

/** The agents that a server library can serve: the same script with different cards. */
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
  /** The address in the card, if it is not the server's own. */
  readonly reachedAt?: (url: string) => Promise<string>;
  readonly pace?: Pace;
}

/** A running official server. */
export interface OfficialServer {
  readonly url: string;
  close(): Promise<void>;
}

/** One server library in one version, with everything that the scenarios need. */
export interface ServerLine extends Line<Ability> {
  readonly rules: Rules;
  start(options: StartOptions): Promise<OfficialServer>;
}
