import type { TaskId } from "../../protocol/ids.ts";
import type { Hint } from "../contract.ts";

/** PostgreSQL accepts payloads of less than 8000 bytes. */
const MAX_BYTES = 7900;
/** More payloads than this cost more than reading the store once. */
const MAX_PAYLOADS = 16;

/** Tells every node to read the store: there are too many hints to send. */
const EVERYTHING = "*";

/**
 * What nodes tell each other about their readers. `by` is a process.
 *
 * - `watch`: the process reads the task, and another one writes it.
 * - `ask`: the process does not know what others watch: they are to announce it again.
 */
export type Announcement =
  | { readonly kind: "watch"; readonly task: TaskId; readonly by: string }
  | { readonly kind: "ask"; readonly by: string };

export type Item = Hint | Announcement;

/** What a payload says. */
export type Received = readonly Item[] | "everything";

/**
 * The items as texts for NOTIFY: JSON arrays of `[task, seq]` for a log, `[task, node]` for an inbox, `[]` for tasks that are due, `[task, true, process]`
 * for a task that is watched, and `[true, process]` for a question what is watched. Releases that do not know an item ignore it.
 */
export function payloadsOf(hints: Iterable<Item>): readonly string[] {
  const payloads: string[] = [];
  let texts: string[] = [];
  let bytes = 2;
  for (const hint of hints) {
    const text = JSON.stringify(itemOf(hint));
    const size = Buffer.byteLength(text) + 1;
    if (size > MAX_BYTES - 2) return [EVERYTHING];
    if (bytes + size > MAX_BYTES) {
      payloads.push(`[${texts.join()}]`);
      texts = [];
      bytes = 2;
    }
    texts.push(text);
    bytes += size;
  }
  if (texts.length > 0) payloads.push(`[${texts.join()}]`);
  return payloads.length > MAX_PAYLOADS ? [EVERYTHING] : payloads;
}

function itemOf(item: Item): readonly unknown[] {
  switch (item.kind) {
    case "due":
      return [];
    case "log":
      return [item.task, item.seq];
    case "inbox":
      return [item.task, item.node];
    case "watch":
      return [item.task, true, item.by];
    case "ask":
      return [true, item.by];
  }
}

/** `undefined` if the payload is not one of {@link payloadsOf}: another program, or another release, may use the channel. */
export function readPayload(text: string): Received | undefined {
  if (text === EVERYTHING) return "everything";
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  return parsed.flatMap((item: unknown) => hintOf(item) ?? []);
}

function hintOf(item: unknown): Item | undefined {
  if (!Array.isArray(item)) return undefined;
  if (item.length === 0) return { kind: "due" };
  const [task, what, by] = item as readonly unknown[]; // Safe: an array of anything.
  if (task === true && typeof what === "string") return { kind: "ask", by: what };
  if (typeof task !== "string") return undefined;
  const id = task as TaskId; // Safe: ids are opaque; a task that does not exist is ignored.
  if (typeof what === "number") return { kind: "log", task: id, seq: what };
  if (what === true && typeof by === "string") return { kind: "watch", task: id, by };
  return typeof what === "string" ? { kind: "inbox", task: id, node: what } : undefined;
}
