import { operatorApi } from "./operator-api.ts";
import type { OutlineAnswer } from "./task-types.ts";

/** Milliseconds for which the server reads a long log before it answers. */
const WITHIN = 15;

let early: { readonly key: string; readonly answer: Promise<OutlineAnswer> } | undefined;

/** Asks for a task while the code of its page is loaded. */
export function askEarly(key: string): void {
  if (early?.key === key) return;
  const answer = operatorApi.outline(key, { within: WITHIN });
  // The page that takes the answer shows the error.
  answer.catch(() => undefined);
  early = { key, answer };
}

/** What the server can read of a task at once. */
export async function readOutline(key: string, signal: AbortSignal): Promise<OutlineAnswer> {
  const asked = early?.key === key ? early.answer : undefined;
  early = undefined;
  const answer = await (asked ?? operatorApi.outline(key, { within: WITHIN }, signal));
  signal.throwIfAborted();
  return answer;
}
