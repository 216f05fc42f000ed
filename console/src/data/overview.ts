import { type ReadonlySignal, signal } from "@preact/signals";
import { onNextTry } from "./connection.ts";
import { ApiError, operatorApi } from "./operator-api.ts";
import type { NodesAnswer, ServerAnswer } from "./operator-types.ts";

/** What the frame of every page shows. */
export interface Overview {
  readonly server: ServerAnswer;
  readonly nodes: NodesAnswer;
  /** Dead letters; at most 50 are counted. */
  readonly deadLetters: number;
}

const EVERY = 3000;
const MOST_LETTERS = 50;

const latest = signal<Overview | undefined>(undefined);

/** `undefined` until the server has answered once. */
export const overview: ReadonlySignal<Overview | undefined> = latest;

async function read(): Promise<void> {
  try {
    const [server, nodes, letters] = await Promise.all([
      operatorApi.server(),
      operatorApi.nodes(),
      operatorApi.deadLetters({ limit: MOST_LETTERS }).then(({ deadLetters }) => deadLetters.length, noWebhooks),
    ]);
    latest.value = { server, nodes, deadLetters: letters };
    setTimeout(whenVisible, EVERY);
  } catch (error) {
    if (error instanceof ApiError && error.status === 0) onNextTry(() => void read());
    else if (!(error instanceof ApiError) || error.status !== 401) setTimeout(whenVisible, EVERY);
  }

  function noWebhooks(error: unknown): number {
    // 501: webhooks are turned off.
    if (error instanceof ApiError && error.status === 501) return 0;
    throw error;
  }
}

function whenVisible(): void {
  if (!document.hidden) void read();
  else document.addEventListener("visibilitychange", whenVisible, { once: true });
}

/** Reads the overview from now on. Called once, when the page has a session. */
export function startOverview(): void {
  void read();
}
