import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ChaosDatabase } from "../../chaos/nodes/database.ts";
import { DatabaseProxy } from "../../chaos/nodes/database-proxy.ts";
import { ChaosNode } from "../../chaos/nodes/node.ts";
import { createRandom } from "../../chaos/random.ts";
import { UnreliableProxy } from "../../chaos/unreliable-proxy.ts";
import type { AgentClient } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import { sampled } from "../fixtures/budget.ts";
import { whyNoPostgres } from "../fixtures/postgres-server.ts";

const reason = await whyNoPostgres();
const NODES = sampled(2, 3);
const STREAMS = sampled(12, 200);
const SENDS_PER_SECOND = sampled(5, 50);

let folder: string;
let database: ChaosDatabase;
let proxy: UnreliableProxy;
let nodes: readonly ChaosNode[];

function script(name: string, chunks: number): string {
  return JSON.stringify({ name, actions: [{ do: "write", chunks, size: 4, pause: 100 }] });
}

describe.skipIf(reason !== undefined)(
  `nodes that are replaced one after the other${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "palaver-rolling-"));
      database = await ChaosDatabase.start();
      proxy = await UnreliableProxy.start(createRandom("rolling"));
      proxy.calm();
      const hop = await DatabaseProxy.start(database.port);
      nodes = Array.from(
        { length: NODES },
        (_, index) =>
          new ChaosNode({
            index,
            proxies: { store: hop, hints: hop },
            log: join(folder, `node-${index}.log`),
            nodeOptions: ["--no-memory-protection-keys", "--no-sparkplug"],
            onStart: (url) => proxy.leadTo(url, index),
            setupOf: (process) => ({
              database: database.urlFor(process, database.port),
              hints: database.urlFor(process, database.port),
              steps: join(folder, "steps.jsonl"),
              publicUrl: proxy.url,
            }),
          }),
      );
      await Promise.all(nodes.map((node) => node.start()));
    });
    afterAll(async () => {
      await Promise.all((nodes ?? []).map((node) => node.stop()));
      await nodes[0]?.proxies.store.close();
      await proxy.close();
      await database.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    test("show no error to a client: every stream and every send succeeds", async () => {
      const agent = await connect(proxy.url);
      let isRolling = true;
      const streams = Array.from({ length: STREAMS }, (_, stream) => readAll(agent, script(`stream-${stream}`, 60)));
      const sends: Promise<string>[] = [];
      const sending = (async () => {
        while (isRolling) {
          sends.push(send(agent, script(`send-${sends.length}`, 1)));
          await sleep(1000 / SENDS_PER_SECOND);
        }
      })();
      for (const node of nodes) {
        await node.stop();
        await node.start();
      }
      isRolling = false;
      await sending;
      const expected = Array.from({ length: 60 }, (_, chunk) => `${chunk}:xxxx;`).join("");
      for (const text of await Promise.all(streams)) expect(text).toBe(expected);
      expect(new Set(await Promise.all(sends))).toEqual(new Set(["completed"]));
      expect(sends.length).toBeGreaterThan(3);
      expect(nodes.flatMap(({ drains }) => drains.map(({ code }) => code))).toEqual(nodes.map(() => 0));
    });
  },
);

/** The text of the artifact, from the events of the stream. */
async function readAll(agent: AgentClient, text: string): Promise<string> {
  let written = "";
  for await (const event of agent.stream(text)) {
    if (event.kind !== "artifact") continue;
    const [{ text: piece = "" } = {}] = event.artifact.parts;
    written = event.append ? written + piece : piece;
  }
  return written;
}

async function send(agent: AgentClient, text: string): Promise<string> {
  const result = await agent.send(text);
  return result.kind === "task" ? result.task.status.state : result.kind;
}
