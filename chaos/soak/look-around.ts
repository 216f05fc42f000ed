import { setTimeout as sleep } from "node:timers/promises";
import type { WireTask } from "../event-line.ts";

interface Page {
  readonly tasks: readonly WireTask[];
  readonly totalSize: number;
}

/** Counts of requests. */
export interface Looks {
  lists: number;
  gets: number;
  /** Number of tasks at the last list request. */
  tasks: number;
}

const HEADERS = { "a2a-version": "1.0" };
const PAUSE = 50;

/** Lists tasks and gets some of them repeatedly until the signal aborts. Ignores failures: the checks report them. */
export async function lookAround(url: string, looks: Looks, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const page = await getJson<Page>(`${url}/tasks?pageSize=20&includeArtifacts=true`, signal);
      looks.lists += 1;
      looks.tasks = page.totalSize;
      for (const { id } of page.tasks.slice(0, 5)) {
        await getJson<WireTask>(`${url}/tasks/${id}`, signal);
        looks.gets += 1;
      }
      await sleep(PAUSE, undefined, { signal });
    } catch {
      // Retention may have deleted the task between the two requests.
    }
  }
}

async function getJson<Body>(url: string, signal: AbortSignal): Promise<Body> {
  const response = await fetch(url, { headers: HEADERS, signal });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  const body: Body = JSON.parse(await response.text());
  return body;
}
