import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { DeadLetterRef } from "../push/contract.ts";
import { metricsJson } from "../telemetry/metrics/metrics-json.ts";
import { answerTask, type OperatorAnswer } from "./answer-task.ts";
import { cancelTask } from "./cancel-task.ts";
import type { OperatorParts, OperatorPush } from "./contract.ts";
import { readDeadLetterCursor, writeDeadLetterCursor } from "./cursor.ts";
import { listTasks, type TaskFilter } from "./list-tasks.ts";
import { createOutlines, type Outlines } from "./read-outline.ts";
import { type EventsQuery, readEvents, readTask, type TaskQuery } from "./read-task.ts";
import { readTrace } from "./read-trace.ts";

/** The most webhooks in one answer. */
const MAX_WEBHOOKS = 200;

/**
 * The operations for operators, over the tasks of all callers. No operation of the protocol uses them. Results are JSON objects of bounded size. Errors
 * are `A2AError`s.
 */
export interface Operator extends Outlines {
  server(): object;
  tasks(filter: TaskFilter): Promise<object>;
  task(key: TaskId, query?: TaskQuery): Promise<object>;
  cancel(key: TaskId): Promise<object>;
  answer(key: TaskId, answer: OperatorAnswer): Promise<object>;
  events(key: TaskId, query: EventsQuery): Promise<object>;
  trace(key: TaskId): Promise<object>;
  webhooksOf(key: TaskId): Promise<object>;
  webhooks(): Promise<object>;
  deadLetters(query: DeadLetterFilter): Promise<object>;
  redeliver(letter: DeadLetterRef): Promise<object>;
  nodes(): Promise<object>;
  store(): Promise<object>;
  metrics(): Promise<object>;
}

/** Filters dead letters. `limit`: default 50. `cursor`: `next` of the page before. */
export interface DeadLetterFilter {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** The store key of a task. */
  readonly taskId?: string | undefined;
}

export function createOperator(parts: OperatorParts): Operator {
  const { store, server, registry } = parts;
  const { counts, ...facts } = server;
  return {
    server: () => ({ ...facts, counts: counts() }),
    tasks: (filter) => listTasks(store, filter),
    task: (key, query) => readTask(parts, key, query),
    cancel: (key) => cancelTask(parts, key),
    answer: (key, answer) => answerTask(parts, key, answer),
    events: (key, query) => readEvents(parts, key, query),
    ...createOutlines(parts),
    trace: (key) => readTrace(parts, key),
    webhooksOf: async (key) => ({ webhooks: await pushOf(parts).view.ofTask(key) }),
    webhooks: async () => ({ webhooks: await pushOf(parts).view.claimed(MAX_WEBHOOKS) }),
    async deadLetters({ limit = 50, cursor, taskId }) {
      const after = cursor === undefined ? undefined : readDeadLetterCursor(cursor);
      const letters = await pushOf(parts).deadLetters.list({ limit, taskId, after });
      const last = letters.at(-1);
      const hasMore = last !== undefined && letters.length >= limit;
      return { deadLetters: letters, ...(hasMore && { next: writeDeadLetterCursor(last) }) };
    },
    async redeliver(letter) {
      await pushOf(parts).deadLetters.redeliver(letter);
      return { redelivered: { taskId: letter.taskId, configId: letter.configId } };
    },
    async nodes() {
      const statistics = await store.statistics?.();
      return {
        node: server.node,
        nodes: (statistics?.nodes ?? []).map(({ id, leaseUntil, tasks }) => ({
          id,
          isThisProcess: id === server.node,
          tasks,
          ...(leaseUntil !== undefined && { leaseUntil: new Date(leaseUntil).toISOString() }),
        })),
        ...(statistics !== undefined && { tasks: statistics.tasks, parked: statistics.parked }),
        ...(statistics?.bytes !== undefined && { storeBytes: statistics.bytes }),
      };
    },
    async store() {
      if (store.report === undefined) throw new A2AError("unavailable", "The store has no figures");
      return { store: await store.report() };
    },
    async metrics() {
      if (registry === undefined) throw new A2AError("unavailable", "Metrics are turned off");
      await registry.refresh();
      return { metrics: metricsJson(registry.read()) };
    },
  };
}

function pushOf({ push }: OperatorParts): OperatorPush {
  if (push === undefined) throw new A2AError("push-not-supported", "This server does not support webhooks");
  return push;
}
