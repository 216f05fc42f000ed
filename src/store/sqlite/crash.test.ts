import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sampled } from "../../../test/fixtures/budget.ts";
import { chunkEntry, NODE, SCOPE, taskId } from "../../testing/store-operations.ts";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import { openSqliteStore } from "./store.ts";

const CHILD = fileURLToPath(new URL("../../testing/store-crash-child.ts", import.meta.url));
const WORKERS = 4;

/** Starts a child process and kills it (SIGKILL) after it acknowledged this many entries; adds each to `acknowledged`. */
async function runAndKill(file: string, after: number, acknowledged: Map<number, number>): Promise<void> {
  const child = spawn(process.execPath, [CHILD, file, String(WORKERS)], { stdio: ["ignore", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let count = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [task, seq] = line.split(" ").map(Number);
    if (task === undefined || seq === undefined) continue;
    acknowledged.set(task, Math.max(seq, acknowledged.get(task) ?? 0));
    count += 1;
    if (count === after) child.kill("SIGKILL");
  }
  expect((await exited)[1]).toBe("SIGKILL");
}

test("every acknowledged commit survives repeated kill -9", {
  timeout: 60_000,
}, async () => {
  await using folder = await temporaryFolder();
  const file = folder.file("crash.db");
  const acknowledged = new Map<number, number>();
  for (let round = 0; round < sampled(4, 8); round++) {
    await runAndKill(file, 1 + Math.floor(Math.random() * 150), acknowledged);
    const store = await openSqliteStore({ file });
    try {
      for (const [n, seq] of acknowledged) {
        const task = taskId(n);
        const log = await store.log(task, 0, 1e9);
        expect(log.length).toBeGreaterThanOrEqual(seq);
        for (const [index, entry] of log.entries())
          expect(entry).toEqual(chunkEntry(index + 1, `${n}/${index + 1}`, index > 0));
        expect(await store.positions([task])).toEqual([{ id: task, seq: log.length, ended: log.length === 40 }]);
        // Log and cursor are written in the same commits, so both are equal; the node that claimed the webhook is gone.
        const [webhook] = await store.webhooks(task);
        expect(webhook).toMatchObject({ id: "w", state: "active", cursor: log.length - 1 });
        expect(webhook?.node).toBeUndefined();
      }
      const page = await store.list({ scope: SCOPE, limit: 1000, artifacts: false, history: 0 });
      expect(page.total).toBe(page.tasks.length);
      expect(page.total).toBeGreaterThanOrEqual(acknowledged.size);
      await store.heartbeat(NODE, 1000);
      expect(await store.claimWebhooks({ node: NODE, agents: [SCOPE.agent], limit: 1000 })).toHaveLength(page.total);
    } finally {
      await store.close();
    }
  }
});

async function startChild(file: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [CHILD, file, "1"], { stdio: ["ignore", "pipe", "inherit"] });
  if (child.stdout !== null) await once(child.stdout, "data");
  return child;
}

test("a second process is refused with the process id of the owner, and can open the file after the owner was killed", async () => {
  await using folder = await temporaryFolder();
  const file = folder.file("owned.db");
  const child = await startChild(file);
  try {
    await expect(openSqliteStore({ file })).rejects.toMatchObject({
      code: "unusable",
      message: expect.stringContaining(`process ${child.pid}`),
    });
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }
  const store = await openSqliteStore({ file });
  await store.health();
  await store.close();
});
