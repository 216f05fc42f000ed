import { randomBytes } from "node:crypto";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { createMemoryBus } from "../src/bus/memory/bus.ts";
import { createEngine } from "../src/engine/engine.ts";
import { agent } from "../src/engine/agent.ts";
import { ANONYMOUS } from "../src/protocol/principal.ts";
const echo = agent({ name: "echo", description: "d", version: "1", async run(task) { return task.text; } });
const logger = { debug() {}, info() {}, warn: console.warn, error: console.error };
const store: any = await openSqliteStore({ file: "/tmp/pdb/m" + process.pid + ".db" });
let commits = 0, ops = 0, busy = 0; const oc = store.commit.bind(store); store.commit = async (o: any) => { commits++; ops += o.length; const t = performance.now(); const r = await oc(o); busy += performance.now() - t; return r; };
const e = createEngine({ agents: [echo], store, bus: createMemoryBus(), logger, secret: randomBytes(32), onFatal: (x) => { console.error("fatal", x); process.exit(1); } });
await e.start();
const scope = { agent: "echo", tenant: "", owner: "anonymous" };
const signal = new AbortController().signal;
let n = 0;
async function one() {
  const r = await e.submit({ scope, caller: ANONYMOUS, dialect: "x", message: { messageId: "m" + n++, role: "user", parts: [{ text: "hello" }] } as any, metadata: {}, outputModes: [], streaming: false, signal });
  if (r.kind !== "task") throw 0;
  await e.settled(r.ticket, { signal });
  await e.snapshot(scope, r.ticket.taskId, { artifacts: true });
}
for (let round = 0; round < 4; round++) {
  const N = 20000, C = 32; let left = N; commits = ops = busy = 0; const c0 = process.cpuUsage(); const t = performance.now();
  await Promise.all(Array.from({ length: C }, async () => { while (left-- > 0) await one(); }));
  const c = process.cpuUsage(c0); const w = performance.now() - t;
  console.log("batch", (ops / commits).toFixed(1), "commit ms", (busy / commits).toFixed(2), "commit share", (busy / w).toFixed(2), "us/op wall", (w * 1000 / N).toFixed(1), "cpu", ((c.user + c.system) / N).toFixed(1));
}
process.exit(0);
