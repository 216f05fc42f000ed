import type { TaskState } from "../src/protocol/state.ts";
import { encodePageToken } from "../src/wire/fields/page-token.ts";
import { BUSY_CONTEXT, type SeededTask, seededAt, seededTask } from "./dataset.ts";
import type { ListParams } from "./load/requests.ts";

export const PAGE_SIZE = 50;
export const PAGE_PLACES = ["first", "middle", "last"] as const;

/** One page to request, and its expected content. */
export interface ListPage {
  readonly filter: string;
  readonly place: (typeof PAGE_PLACES)[number];
  readonly params: ListParams;
  /** Number of tasks that match the filter. */
  readonly total: number;
  readonly ids: readonly string[];
}

interface Filter {
  readonly state?: TaskState;
  readonly contextId?: string;
  readonly since?: number;
}

/** First, middle and last page of every filter over the first `size` seeded tasks. */
export function pagesOf(size: number): ListPage[] {
  const tasks = Array.from({ length: size }, (_, index) => seededTask(size - 1 - index));
  return Object.entries(filtersOf(size)).flatMap(([name, filter]) => {
    const matching = tasks.filter((task) => matches(task, filter));
    return PAGE_PLACES.map((place) => pageAt(place, { name, filter, matching }));
  });
}

function filtersOf(size: number): Readonly<Record<string, Filter>> {
  const contextId = BUSY_CONTEXT;
  const small = smallContext(Math.floor(size / 2));
  // The start time of the newest share of all tasks.
  const newest = (share: number) => seededAt(Math.floor(size * (1 - share)));
  return {
    "no filter": {},
    completed: { state: "completed" },
    rejected: { state: "rejected" },
    "input-required": { state: "input-required" },
    working: { state: "working" },
    "a busy context": { contextId },
    "a small context": { contextId: small },
    "since 1 %": { since: newest(0.01) },
    "since 50 %": { since: newest(0.5) },
    "since 99 %": { since: newest(0.99) },
    "completed in a busy context": { state: "completed", contextId },
    "rejected in a small context": { state: "rejected", contextId: small },
    "completed since 50 %": { state: "completed", since: newest(0.5) },
    "rejected since 99 %": { state: "rejected", since: newest(0.99) },
    "a busy context since 50 %": { contextId, since: newest(0.5) },
    "completed in a busy context since 50 %": { state: "completed", contextId, since: newest(0.5) },
  };
}

/** The context of the first task from there on that is not in the busy context. */
function smallContext(from: number): string {
  const { contextId } = seededTask(from);
  return contextId === BUSY_CONTEXT ? smallContext(from + 1) : contextId;
}

function matches(task: SeededTask, { state, contextId, since }: Filter): boolean {
  return (
    (state === undefined || task.state === state) &&
    (contextId === undefined || task.contextId === contextId) &&
    (since === undefined || task.at >= since)
  );
}

interface Matching {
  readonly name: string;
  readonly filter: Filter;
  /** Newest first. */
  readonly matching: readonly SeededTask[];
}

function pageAt(place: ListPage["place"], { name, filter, matching }: Matching): ListPage {
  const last = Math.max(0, Math.floor((matching.length - 1) / PAGE_SIZE) * PAGE_SIZE);
  const start = { first: 0, middle: Math.floor(matching.length / 2 / PAGE_SIZE) * PAGE_SIZE, last }[place];
  const before = matching[start - 1];
  return {
    filter: name,
    place,
    total: matching.length,
    ids: matching.slice(start, start + PAGE_SIZE).map(({ id }) => id),
    params: {
      pageSize: PAGE_SIZE,
      ...(filter.state !== undefined && { status: `TASK_STATE_${filter.state.toUpperCase().replace("-", "_")}` }),
      ...(filter.contextId !== undefined && { contextId: filter.contextId }),
      ...(filter.since !== undefined && { statusTimestampAfter: new Date(filter.since).toISOString() }),
      ...(before !== undefined && { pageToken: encodePageToken({ at: before.at, id: before.id }) }),
    },
  };
}
