import type { TaskId } from "../../protocol/ids.ts";
import type { Hint } from "../contract.ts";

/** PostgreSQL accepts payloads of less than 8000 bytes. */
const MAX_BYTES = 7900;
/** More payloads than this cost more than reading the store once. */
const MAX_PAYLOADS = 16;

/** Tells every node to read the store: there are too many hints to send. */
const EVERYTHING = "*";

/** What a payload says. */
export type Received = readonly Hint[] | "everything";

/** The hints as texts for NOTIFY: JSON arrays of `[task, seq]` for a log, `[task, node]` for an inbox, and `[]` for tasks that are due. */
export function payloadsOf(hints: Iterable<Hint>): readonly string[] {
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

function itemOf(hint: Hint): readonly unknown[] {
  if (hint.kind === "due") return [];
  return [hint.task, hint.kind === "log" ? hint.seq : hint.node];
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

function hintOf(item: unknown): Hint | undefined {
  if (!Array.isArray(item)) return undefined;
  if (item.length === 0) return { kind: "due" };
  const [task, what] = item as readonly unknown[]; // Safe: an array of anything.
  if (typeof task !== "string") return undefined;
  const id = task as TaskId; // Safe: ids are opaque; a task that does not exist is ignored.
  if (typeof what === "number") return { kind: "log", task: id, seq: what };
  return typeof what === "string" ? { kind: "inbox", task: id, node: what } : undefined;
}
