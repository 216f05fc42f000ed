import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { TaskPicture } from "./event-line.ts";

/**
 * What the processes of a run write down, one JSON line each, in the order it happened to them. `at` is milliseconds since 1970. `task` is
 * the name that the plan gave a task, `taskId` the server's.
 */
export type Entry =
  /** The server said that the task is there. */
  | { readonly kind: "sent"; readonly at: number; readonly task: string; readonly taskId: string }
  /** A message to a task is sent for the first time. */
  | { readonly kind: "saying"; readonly at: number; readonly task: string; readonly text: string }
  /** A message to a task was acknowledged. */
  | { readonly kind: "said"; readonly at: number; readonly task: string; readonly text: string }
  /** A message to a task was refused: the task has ended. */
  | {
      readonly kind: "refused";
      readonly at: number;
      readonly task: string;
      readonly text: string;
      readonly why: string;
    }
  /** A send that waited for what comes of an answer returned. `begun`: when it was first sent. */
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
  /** A reader began with a whole task that reflects the log up to `seq`. */
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
  /** An event as our own client gave it, which has no number. */
  | {
      readonly kind: "told";
      readonly at: number;
      readonly task: string;
      readonly reader: string;
      readonly line: string;
    }
  /** `picture`: the task in the end, as our own client has it. */
  | {
      readonly kind: "read-to-end";
      readonly at: number;
      readonly task: string;
      readonly reader: string;
      readonly picture?: TaskPicture;
    }
  /** A process was still waiting for this when it was told to give up. */
  | { readonly kind: "waiting"; readonly at: number; readonly task: string; readonly what: string }
  /** Something failed in a way no failure of the server or the network explains. */
  | { readonly kind: "failed"; readonly at: number; readonly task: string; readonly what: string }
  | {
      readonly kind: "notified";
      readonly at: number;
      readonly task: string;
      readonly hook: string;
      readonly jti: string;
      /** An event as one line, or a picture of a whole task. */
      readonly told: string | TaskPicture;
      readonly answer: number;
    }
  /** A step begins to run, or its result is known to be committed. */
  | {
      readonly kind: "step";
      readonly at: number;
      readonly key: string;
      readonly moment: "begin" | "committed";
      readonly pid: number;
    };

type WithoutTime<E> = E extends Entry ? Omit<E, "at"> : never;

export type Write = (entry: WithoutTime<Entry>) => void;

/** Appends to a file, one write for each entry, so that a `kill -9` loses nothing that was written. */
export function openJournal(file: string): Write {
  return (entry) => appendFileSync(file, `${JSON.stringify({ ...entry, at: Date.now() })}\n`);
}

/** All entries of a file. A last line that a kill cut off is left out. */
export function readJournal(file: string): readonly Entry[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  lines.pop();
  return lines.map((line): Entry => JSON.parse(line));
}
