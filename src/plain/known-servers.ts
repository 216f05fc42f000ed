import type { A2AServerDeps } from "./types.ts";

/** How many of the latest tasks are remembered. Older ones are found only with `deps`. */
const MAX_TASKS = 10_000;

/**
 * The server of each task, for functions that are called with an id only. It is global because those functions are global; a process with several
 * servers passes `deps`.
 */
const sent = new Map<string, A2AServerDeps>();
let latestServer: A2AServerDeps["server"] | undefined;

/** Called by every function that gets a server, so that later calls may omit it. */
export function rememberServer({ server }: A2AServerDeps): void {
  latestServer = server;
}

/** A task sent with headers (credentials) is not remembered: anyone who knows its id could read it. */
export function rememberTask(id: string, deps: A2AServerDeps): void {
  if (deps.headers !== undefined) return;
  sent.set(id, deps);
  const [oldest] = sent.keys();
  if (sent.size > MAX_TASKS && oldest !== undefined) sent.delete(oldest);
}

/** The tasks that the last `clearTaskStore` removed, and its time in milliseconds since 1970. */
let forgotten: ReadonlySet<string> = new Set();
let forgottenAt = Number.NEGATIVE_INFINITY;

/** For `clearTaskStore`. */
export function forgetTasks(): void {
  forgotten = new Set(sent.keys());
  forgottenAt = Date.now();
  sent.clear();
}

/** Whether a task is older than the last `clearTaskStore`. A task sent from here since then is not, whatever the clock says. */
export function isForgotten(id: string, createdAt: string): boolean {
  return !sent.has(id) && (forgotten.has(id) || Date.parse(createdAt) < forgottenAt);
}

/** The server and agent that the task was sent to, if remembered. */
export function sentTo(id: string): A2AServerDeps | undefined {
  return sent.get(id);
}

/** The server that was passed last. Throws a `TypeError` if there is none. */
export function knownServer(): A2AServerDeps {
  if (latestServer !== undefined) return { server: latestServer };
  throw new TypeError("No server was passed yet. Pass one: buildAgentCard(undefined, { server }).");
}
