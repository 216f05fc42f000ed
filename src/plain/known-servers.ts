import type { A2ATaskDeps } from "./types.ts";

/** The latest so many tasks are remembered. Older ones are found by naming the server. */
const MAX_TASKS = 10_000;

/**
 * Who to ask, for functions that are told no more than an id or nothing at all. This belongs to the process because those
 * functions do: whoever has several servers in one process names the one it means.
 */
const sent = new Map<string, A2ATaskDeps>();
let latestServer: A2ATaskDeps["server"] | undefined;

export function rememberServer({ server }: A2ATaskDeps): void {
  latestServer = server;
}

/** A task sent in somebody's name is not remembered: it would be shown to whoever knows its id. */
export function rememberTask(id: string, deps: A2ATaskDeps): void {
  if (deps.headers !== undefined) return;
  sent.set(id, deps);
  const [oldest] = sent.keys();
  if (sent.size > MAX_TASKS && oldest !== undefined) sent.delete(oldest);
}

/** The tasks that were remembered when all were forgotten last, and when that was, in milliseconds since the epoch. */
let forgotten: ReadonlySet<string> = new Set();
let forgottenAt = Number.NEGATIVE_INFINITY;

export function forgetTasks(): void {
  forgotten = new Set(sent.keys());
  forgottenAt = Date.now();
  sent.clear();
}

/** Whether a task is from before all were forgotten. One that was sent from here since is not, whatever the clock says. */
export function isForgotten(id: string, createdAt: string): boolean {
  return !sent.has(id) && (forgotten.has(id) || Date.parse(createdAt) < forgottenAt);
}

/** Whom the task was sent to; `undefined` if that is not remembered. */
export function sentTo(id: string): A2ATaskDeps | undefined {
  return sent.get(id);
}

/** The server named last. Throws a `TypeError` where none was. */
export function knownServer(): A2ATaskDeps {
  if (latestServer !== undefined) return { server: latestServer };
  throw new TypeError("No server is known here yet: name one, as in buildAgentCard(undefined, { server }).");
}
