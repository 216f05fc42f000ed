import fc from "fast-check";
import { expect, test } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { sqliteTrial } from "../../testing/sqlite-trial.ts";
import {
  advanceOf,
  chunkEntry,
  claimOf,
  claimWebhookOf,
  contextId,
  createOf,
  deleteWebhookOf,
  endOf,
  headOf,
  postOf,
  reviveOf,
  SCOPE,
  START,
  setWebhookOf,
  statusEntry,
  taskId,
  webhookOf,
  writeOf,
} from "../../testing/store-operations.ts";
import type { OperatorQuery, Store, StoreOperation, WebhookOperation } from "../contract.ts";
import { createMemoryStore } from "../memory/store.ts";

const NODES = ["one", "two"];
const TASKS = 3;
/** The agents of the tasks of a trial. The first two are served by the nodes that claim. */
const AGENTS = [SCOPE.agent, "other", "third"];

/** An operation on one of the tasks of a trial, mostly valid: seq and epoch are near the correct values. */
interface Move {
  readonly task: number;
  readonly kind: "create" | "write" | "end" | "post" | "claim" | "context-write" | WebhookOperation["kind"];
  readonly node: string;
  readonly count: number;
  readonly seqError: number;
  readonly epochError: number;
  readonly force: boolean;
  readonly release: boolean;
  readonly withHead: boolean;
  readonly withArtifacts: boolean;
  readonly inbox: number;
  readonly wake: number | undefined;
}

const mostly0 = fc.oneof({ weight: 9, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) });
const move: fc.Arbitrary<Move> = fc.record({
  task: fc.nat(TASKS - 1),
  kind: fc.oneof(
    {
      weight: 8,
      arbitrary: fc.constantFrom(
        "create",
        "create",
        "write",
        "write",
        "write",
        "end",
        "post",
        "claim",
        "context-write",
      ),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom(
        "webhook-set",
        "webhook-set",
        "webhook-claim",
        "webhook-advance",
        "webhook-advance",
        "webhook-revive",
        "webhook-delete",
      ),
    },
  ),
  node: fc.constantFrom(...NODES),
  count: fc.nat(3),
  seqError: mostly0,
  epochError: mostly0,
  force: fc.boolean(),
  release: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  withHead: fc.boolean(),
  withArtifacts: fc.boolean(),
  inbox: fc.nat(3),
  wake: fc.option(fc.nat(20), { nil: undefined }),
});
type Step = readonly Move[] | "leave" | "beat" | "tick" | "claim-due" | "claim-webhooks";
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.array(move, { minLength: 1, maxLength: 6 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step[]>("leave", "beat", "tick", "claim-due", "claim-webhooks"),
  },
);

async function operationOf(memory: Store, id: TaskId, next: Move): Promise<StoreOperation> {
  const record = await memory.get(id, { artifacts: false });
  const seq = (record?.seq ?? 0) + 1 + next.seqError;
  const epoch = (record?.epoch ?? 1) + next.epochError;
  const entries = Array.from({ length: next.count }, (_, index) =>
    next.withHead && index === 0
      ? statusEntry(seq)
      : { ...chunkEntry(seq + index, `${seq + index}`), note: `${index}` },
  );
  const head = headOf(next.force ? "working" : "input-required", {
    statusAt: START + seq,
    ...(next.wake !== undefined && { wakeAt: START + next.wake }),
  });
  const common = {
    epoch,
    entries,
    release: next.release,
    // Without the error: a store does not check this number, and the engine writes messages in their order.
    history: next.force
      ? [{ after: (record?.seq ?? 0) + 1, body: `{"n":${seq}}`, ...(next.release && { inbox: "x" }) }]
      : [],
    taken: next.withArtifacts ? [`m${next.inbox}`] : [],
    steps: next.force ? [{ key: `k${next.inbox}`, value: `${seq}` }] : [],
    forgetSteps: next.withHead && next.release,
    ...(next.count > 1 && { journal: [{ key: `j${next.inbox}`, body: `{"n":${seq}}` }] }),
    ...(next.withHead && { head }),
  };
  const end = endOf(seq + entries.length, {
    unlessInbox: next.force,
    head: headOf("completed", { statusAt: START + seq }),
    history: next.withHead ? [{ after: seq + entries.length, body: "{}" }] : [],
    ...(next.withArtifacts && { artifacts: "[]" }),
  });
  switch (next.kind) {
    case "create":
      return createOf(
        id,
        {
          node: next.node,
          messageId: next.withHead ? id : firstOf(id),
          at: START + next.count,
          ...(next.withArtifacts && { idempotency: { since: START + next.inbox, digest: `${next.count}` } }),
          ...(next.force && { webhook: webhookOf(`w${next.inbox}`) }),
          scope: { ...SCOPE, agent: AGENTS[next.task] ?? SCOPE.agent },
          // A context that the caller did not name has one task.
          contextId: contextId(next.release ? next.inbox % 2 : Number(id.slice(5))),
          contextShared: next.release,
          ...(next.count > 0 && { parent: taskId(next.inbox), root: taskId(next.count) }),
        },
        { ...common, epoch: 1, head, ...(next.inbox === 0 && { end }) },
      );
    case "write":
      return writeOf(id, common);
    case "end":
      return writeOf(id, { ...common, end });
    case "post":
      return {
        ...postOf(id, { id: `m${next.inbox}`, kind: next.release ? "cancel" : "message", sealed: next.withHead }, 2),
        ...(next.force && { expectedSeq: next.count }),
      };
    case "claim":
      return claimOf(id, next.node, next.force);
    case "context-write":
      return {
        kind: "context-write",
        task: id,
        epoch,
        key: `k${next.inbox}`,
        maxBytes: 40,
        ...(next.count > 0 && { value: "é".repeat(next.count * 6) }),
        ...(next.withHead && { expected: next.wake ?? 0 }),
        ...(next.force && { step: { key: `s${next.inbox}`, value: "1" } }),
      };
    default:
      return webhookOperationOf(memory, id, { ...next, kind: next.kind });
  }
}

async function webhookOperationOf(
  memory: Store,
  task: TaskId,
  next: Move & { readonly kind: WebhookOperation["kind"] },
): Promise<StoreOperation> {
  const id = `w${next.inbox}`;
  const at = START + (next.wake ?? 0);
  switch (next.kind) {
    case "webhook-set": {
      const webhook = webhookOf(id, { at, unnamed: next.withHead, body: `${next.count}` });
      const owner = next.seqError === 0 ? SCOPE.owner : "bob";
      const scope = { ...SCOPE, agent: AGENTS[next.task] ?? SCOPE.agent, owner };
      return setWebhookOf(task, id, { webhook, scope, only: next.release && next.force, maxPerTask: 2 });
    }
    case "webhook-delete":
      return deleteWebhookOf(task, id);
    case "webhook-claim":
      return claimWebhookOf(task, id, next.node);
    case "webhook-revive":
      return reviveOf(task, id, at);
    case "webhook-advance": {
      const webhook = (await memory.webhooks(task)).find((each) => each.id === id);
      return advanceOf(task, id, {
        epoch: (webhook?.epoch ?? 0) + next.epochError,
        cursor: (webhook?.cursor ?? 0) + next.count,
        attempts: next.count,
        nextAt: at,
        state: (["active", "idle", "suspended", "removed"] as const)[next.count] ?? "active",
        ...(next.withHead && { failure: "f" }),
        ...(next.force && { failedAt: at }),
      });
    }
  }
}

/** The first task of the same trial: other tasks repeat some of its messages. */
function firstOf(id: TaskId): TaskId {
  return taskId(Math.floor(Number(id.slice(5)) / 10) * 10);
}

/** Everything a reader can see of these tasks, except artifacts: each store may compute them at another time. */
async function view(store: Store, ids: readonly TaskId[], pages: number): Promise<unknown> {
  const tasks = [];
  for (const id of ids) {
    tasks.push([
      await store.get(id, { artifacts: false }),
      await store.get(id, { artifacts: false, history: 1, upTo: 3 }),
      await store.log(id, 0, 1e9),
      await store.log(id, 2, 100),
      await store.inbox(id),
      await store.steps(id),
      await store.journal(id),
      await store.findByMessage(SCOPE, id),
      await store.webhooks(id),
      await store.failedWebhooks({ task: id, limit: 9 }),
    ]);
  }
  const failed = (await store.failedWebhooks({ limit: 1e6 })).filter(({ task }) => ids.includes(task));
  const waiting = [];
  for (const node of NODES) waiting.push(await waitingOf(store, node));
  const lists = [];
  for (const query of OPERATOR_QUERIES) lists.push(await pagesOf(store, query, pages));
  const contexts = [];
  for (const agent of AGENTS)
    for (const n of [0, 1]) contexts.push(await store.contextValues({ ...SCOPE, agent }, contextId(n)));
  return {
    tasks,
    positions: await store.positions(ids),
    failed,
    waiting,
    lists,
    contexts,
  };
}

async function waitingOf(store: Store, node: string): Promise<unknown> {
  const { tasks, webhooks } = await store.claimsOf(node);
  const sorted = webhooks.toSorted((a, b) => (`${a.task}/${a.id}` < `${b.task}/${b.id}` ? -1 : 1));
  return { tasks, webhooks: sorted, entries: await store.waitingEntries(node) };
}

const OPERATOR_QUERIES: readonly Omit<OperatorQuery, "limit">[] = [
  {},
  { agent: "other" },
  { agent: "nobody" },
  { state: "completed" },
  { agent: "echo", state: "working" },
  { statusSince: START + 2, statusBefore: START + 5 },
  { tenant: "" },
  { tenant: "", agent: "third", state: "completed" },
  { tenant: "nobody" },
  { owner: SCOPE.owner },
  { owner: SCOPE.owner, agent: "echo", statusSince: START + 3 },
  { owner: "nobody" },
  { contextId: contextId(1) },
  { contextId: contextId(1), state: "completed" },
  { contextId: contextId(0), agent: "other" },
  { contextId: contextId(0), owner: SCOPE.owner, tenant: "" },
  { parent: taskId(1) },
  { parent: taskId(1), root: taskId(2), state: "completed" },
  { root: taskId(2), agent: "other", owner: SCOPE.owner, contextId: contextId(0) },
];

/** The first pages of a list. */
async function pagesOf(store: Store, query: Omit<OperatorQuery, "limit">, most: number): Promise<unknown> {
  const pages = [await store.listAll({ ...query, limit: 7 })];
  for (let next = pages[0]?.next; next !== undefined && pages.length < most; next = pages.at(-1)?.next)
    pages.push(await store.listAll({ ...query, limit: 7, before: next }));
  return pages;
}

async function claim(store: Store, kind: "claim-due" | "claim-webhooks"): Promise<unknown> {
  const query = { node: "one", agents: AGENTS.slice(0, 2), limit: 4 };
  if (kind === "claim-webhooks") return store.claimWebhooks(query);
  // A store may leave out how many other nodes there are, and SQLite does.
  const { others: _others, ...due } = await store.claimDue(query);
  return due;
}

test("the SQLite store behaves as the memory store for random operations", async () => {
  await using trial = await sqliteTrial();
  const clock = { now: START };
  const now = (): number => clock.now;
  const memory = createMemoryStore({ retention: {}, now });
  const sqlite = await trial.open({ now });
  let run = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
    run += 1;
    const ids = Array.from({ length: TASKS }, (_, n) => taskId(run * 10 + n));
    for (const next of steps) {
      if (next === "tick") clock.now += 5;
      if (next === "claim-due" || next === "claim-webhooks")
        expect(await claim(sqlite, next)).toEqual(await claim(memory, next));
      for (const store of [memory, sqlite]) {
        if (next === "beat") await store.heartbeat("one", 8);
        if (next === "leave") await store.leave("one");
      }
      if (typeof next === "string") continue;
      const operations: StoreOperation[] = [];
      for (const each of next) operations.push(await operationOf(memory, ids[each.task] ?? taskId(0), each));
      expect(await sqlite.commit(operations)).toEqual(await memory.commit(operations));
    }
    expect(await view(sqlite, ids, 2)).toEqual(await view(memory, ids, 2));
  });
  await fc.assert(property, { numRuns: sampled(100, 1000) });

  // Compare again after reopening: the hot log is empty and no node holds a lease.
  await sqlite.close();
  const again = await trial.open({ now });
  await Promise.all(NODES.map((node) => memory.leave(node)));
  const all = Array.from({ length: run }, (_, n) =>
    Array.from({ length: TASKS }, (_, m) => taskId((n + 1) * 10 + m)),
  ).flat();
  expect(await view(again, all, Number.POSITIVE_INFINITY)).toEqual(await view(memory, all, Number.POSITIVE_INFINITY));
});
