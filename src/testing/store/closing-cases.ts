import assert from "node:assert/strict";
import { StoreError } from "../../store/contract.ts";
import { contextId, NODE, SCOPE, taskId } from "../store-operations.ts";
import type { StoreCase } from "./store-case.ts";

const T = taskId(1);

export const closingCases: readonly StoreCase[] = [
  {
    name: "rejects every call once closed, and may be closed twice",
    async run({ store }) {
      await store.close();
      await store.close();
      const claim = { node: NODE, agents: [SCOPE.agent], limit: 1 };
      const calls: readonly (() => Promise<unknown>)[] = [
        () => store.commit([]),
        () => store.commit([], { writer: "w", n: 1 }),
        () => store.get(T, { artifacts: false }),
        () => store.list({ scope: SCOPE, limit: 1, artifacts: false }),
        () => store.listAll({ limit: 1 }),
        () => store.history(T, 0, 1),
        () => store.log(T, 0, 1),
        () => store.inbox(T),
        () => store.steps(T),
        () => store.journal(T),
        () => store.contextValues(SCOPE, contextId(1)),
        () => store.findByMessage(SCOPE, "m"),
        () => store.webhooks(T),
        () => store.failedWebhooks({ limit: 1 }),
        () => store.positions([]),
        () => store.changes([], 1),
        () => store.claimDue(claim),
        () => store.claimWebhooks(claim),
        () => store.waitingEntries(NODE),
        () => store.claimsOf(NODE),
        () => store.heartbeat(NODE, 1),
        () => store.leave(NODE),
        () => store.sweep(),
        () => store.health(),
      ];
      const isClosed = (thrown: unknown): boolean => thrown instanceof StoreError && thrown.code === "closed";
      for (const call of calls) await assert.rejects(call(), isClosed, String(call));
    },
  },
  {
    name: "is healthy while open",
    async run({ store }) {
      await store.health();
    },
  },
];
