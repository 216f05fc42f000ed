import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { TaskPicture } from "./event-line.ts";

/**
 * The journal entries of the processes of a run, one JSON line each, in order. `at` is milliseconds since 1970. `task`
 * is the task's name in the plan, `taskId` the server's id.
 */
export type Entry =
  /** The server acknowledged the task. */
  | { readonly kind: "sent"; readonly at: number; readonly task: string; readonly taskId: string }
  /** A message to a task is sent for the first time. */
  | { readonly kind: "saying"; readonly at: number; readonly task: string; readonly text: string }
  /** A message to a task was acknowledged. */
  | { readonly kind: "said"; readonly at: number; readonly task: string; readonly text: string }
  /** A message to a task was refused, because the task has ended. */
  | {
      readonly kind: "refused";
      readonly at: number;
      readonly task: string;
      readonly text: string;
      readonly why: string;
    }
  /** A send that waited for the effect of an answer returned. `begun`: when it was first sent. */
  | {
      readonly kind: "answered";
      readonly at: number;
      readonly begun: number;
      readonly task: string;
      readonly question: number;
      readonly state: string;
      readonly text: string;
    }
  | { readonly kind: "canceled"; readonly at: number; readonly task: string; readonly outcome: "canceled" | "too-late" }
  /** A reader started with a whole task that contains the log up to `seq`. */
  | {
      readonly kind: "snapshot";
      readonly at: number;
      readonly task: string;
      readonly reader: string;
      readonly seq: number;
    }
  | {
      readonly kind: "frame";
      readonly at: number;
      readonly reader: string;
      readonly seq: number;
      readonly line: string;
    }
  /** An event from our own client, which has no number. */
  | {
      readonly kind: "event";
      readonly at: number;
      readonly task: string;
      readonly reader: string;
      readonly line: string;
    }
  /** `picture`: the final task of our own client. */
  | {
      readonly kind: "read-to-end";
      readonly at: number;
      readonly task: string;
      readonly reader: string;
      readonly picture?: TaskPicture;
    }
  /** A process was still waiting for this when it had to exit. */
  | { readonly kind: "waiting"; readonly at: number; readonly task: string; readonly what: string }
  /** A failure that no failure of the server or the network explains. */
  | { readonly kind: "failed"; readonly at: number; readonly task: string; readonly what: string }
  | {
      readonly kind: "notified";
      readonly at: number;
      readonly task: string;
      readonly hook: string;
      readonly jti: string;
      /** An event as one line, or the compared content of a whole task. */
      readonly content: string | TaskPicture;
      readonly answer: number;
    }
  /** A step starts, or its result was committed. */
  | {
      readonly kind: "step";
      readonly at: number;
      readonly key: string;
      readonly moment: "begin" | "committed";
      readonly pid: number;
    };

type WithoutTime<E> = E extends Entry ? Omit<E, "at"> : never;

export type Write = (entry: WithoutTime<Entry>) => void;

/** Appends to a file, one write per entry, so that `kill -9` loses no written entry. */
export function openJournal(file: string): Write {
  return (entry) => appendFileSync(file, `${JSON.stringify({ ...entry, at: Date.now() })}\n`);
}

/** All entries of a file, without a last line that a kill has cut. */
export function readJournal(file: string): readonly Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  lines.pop();
  return lines.map((line): Entry => JSON.parse(line));
}
