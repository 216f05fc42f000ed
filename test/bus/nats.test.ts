import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Bus, Hint } from "../../src/bus/contract.ts";
import { createNatsBus } from "../../src/bus/nats/bus.ts";
import { loadNatsDriver } from "../../src/bus/nats/driver.ts";
import type { Logger } from "../../src/internal/logger.ts";
import { natsAddress } from "../../src/platform/open-nats.ts";
import { taskId } from "../../src/testing/store-operations.ts";
import { until } from "../e2e/workbench.ts";
import { type NatsServer, startNats, whyNoNats } from "../fixtures/nats-server.ts";

const reason = whyNoNats();
const T = taskId(1);
let server: NatsServer;
const buses: Bus[] = [];
let warnings: unknown[] = [];
const logger: Logger = {
  debug: () => {},
  info: () => {},
  warn: (_message, details) => warnings.push(details),
  error: () => {},
};

interface Member {
  readonly bus: Bus;
  readonly hints: Hint[];
  connections: number;
}

/** A node on the bus. */
async function join(node: string, { url = server.url, name = "store" } = {}): Promise<Member> {
  const bus = createNatsBus({ connect: await loadNatsDriver(), address: natsAddress(url, {}), name, logger });
  buses.push(bus);
  const member: Member = { bus, hints: [], connections: 0 };
  bus.subscribe({
    node,
    onHints: (hints) => member.hints.push(...hints),
    onReconnect: () => {
      member.connections += 1;
    },
  });
  return member;
}

/** A node whose connection works. */
async function joined(node: string, options: { readonly name?: string; readonly url?: string } = {}): Promise<Member> {
  const member = await join(node, options);
  await until(() => member.connections === 1);
  return member;
}

const log = (seq: number, task = T): Hint => ({ kind: "log", task, seq });
const inbox = (node: string, task = T): Hint => ({ kind: "inbox", task, node });

/** Until everything that was published before has arrived: the server keeps the order of one connection. */
async function settled(from: Member, to: Member, node: string): Promise<void> {
  const last = taskId(999_999);
  const isLast = (hint: Hint): boolean => hint.kind === "inbox" && hint.task === last;
  from.bus.publish([inbox(node, last)]);
  await until(() => to.hints.some((hint) => isLast(hint)));
  to.hints.splice(
    to.hints.findIndex((hint) => isLast(hint)),
    1,
  );
}

describe.skipIf(reason !== undefined)(`the NATS bus${reason === undefined ? "" : ` (skipped: ${reason})`}`, () => {
  beforeAll(async () => {
    server = await startNats();
  });
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
    warnings = [];
  });
  afterAll(() => server.stop());

  test("sends inbox hints to the node that has the lease, and log hints to the nodes that watch the task", async () => {
    const [a, b] = [await joined("a"), await joined("b")];
    const unwatch = b.bus.watch(T);
    b.bus.watch(taskId(2));
    await settled(b, b, "b"); // The server knows what b watches.
    a.bus.publish([log(3), inbox("a"), inbox("b"), inbox("c")]);
    await until(() => a.hints.length === 1 && b.hints.length === 2);
    expect(a.hints).toEqual([inbox("a")]);
    expect(b.hints).toEqual(expect.arrayContaining([log(3), inbox("b")]));
    unwatch();
    unwatch();
    a.bus.publish([log(4), log(1, taskId(2))]);
    await settled(a, b, "b");
    expect(b.hints.slice(2)).toEqual([log(1, taskId(2))]);
  });

  test("tells all nodes that tasks are due, also as the last thing before it is closed", async () => {
    const [a, b] = [await joined("a"), await joined("b")];
    await settled(b, b, "b"); // The server knows the subscriptions of b.
    a.bus.publish([{ kind: "due" }]);
    await a.bus.close();
    await until(() => b.hints.length === 1);
    expect(b.hints).toEqual([{ kind: "due" }]);
  });

  test("a task that is watched twice is watched until both have ended", async () => {
    const [a, b] = [await joined("a"), await joined("b")];
    const [one, other] = [b.bus.watch(T), b.bus.watch(T)];
    one();
    await settled(b, b, "b");
    a.bus.publish([log(1)]);
    await settled(a, b, "b");
    expect(b.hints).toEqual([log(1)]);
    other();
    await settled(b, b, "b");
    a.bus.publish([log(2)]);
    await settled(a, b, "b");
    expect(b.hints).toEqual([log(1)]);
  });

  test("sends the hints of one turn together, and of one log only the last", async () => {
    const [a, b] = [await joined("a"), await joined("b")];
    b.bus.watch(T);
    await settled(b, b, "b");
    for (let seq = 1; seq <= 1000; seq++) a.bus.publish([log(seq)]);
    await settled(a, b, "b");
    expect(b.hints).toEqual([log(1000)]);
  });

  test("sends more hints than fit into one message", async () => {
    const [a, b] = [await joined("a"), await joined("b")];
    a.bus.publish(Array.from({ length: 20_000 }, (_, n) => inbox("b", taskId(n))));
    await until(() => b.hints.length === 20_000);
  });

  test("the hints of one store do not reach the nodes of another store on the same server", async () => {
    const [a, b] = [await joined("a"), await joined("a", { name: "another store" })];
    a.bus.publish([inbox("a")]);
    await until(() => a.hints.length === 1);
    await settled(b, b, "a");
    expect(b.hints).toEqual([]);
  });

  test("connects again after the server was restarted, tells its subscribers to read the store, and sends hints as before", async () => {
    const [a, b] = [await joined("a"), await joined("b")];
    b.bus.watch(T);
    await server.crash();
    await until(() => warnings.length === 2);
    // Meanwhile hints reach the own process.
    a.bus.publish([inbox("a")]);
    await until(() => a.hints.length === 1);
    await server.restart();
    await until(() => a.connections === 2 && b.connections === 2);
    a.bus.publish([inbox("b"), log(5)]);
    await until(() => b.hints.length === 2);
    expect(warnings).toHaveLength(2);
  });

  test("ignores messages of other programs on its subjects", async () => {
    const a = await joined("a");
    const { Subjects } = await import("../../src/bus/nats/subjects.ts");
    const stranger = await (await loadNatsDriver())(natsAddress(server.url, {}));
    for (const payload of ["", "{", "{}", "[1]", '[["x"]]', "[[1,2]]", "null"])
      stranger.publish(new Subjects("store").inbox("a"), payload);
    await stranger.close();
    await settled(a, a, "a");
    expect(a.hints).toEqual([]);
  });

  test("delivers hints within the process while no server can be reached, says so once, and closes without one", async () => {
    const a = await join("a", { url: "nats://127.0.0.1:1" });
    a.bus.publish([inbox("a")]);
    await until(() => a.hints.length === 1 && warnings.length === 1);
    await a.bus.close();
    await a.bus.close();
    expect(a.connections).toBe(0);
    expect(warnings).toHaveLength(1);
  });

  test("logs in with a user and a password; without them the log says that the server refuses", async () => {
    const guarded = await startNats(["--user", "ann", "--pass", "p@ss"]);
    try {
      const url = guarded.url.replace("nats://", "nats://ann:p%40ss@");
      const a = await joined("a", { url });
      await settled(a, a, "a");
      await join("b", { url: guarded.url });
      await until(() => warnings.length > 0);
      expect(String((warnings[0] as { error: unknown }).error)).toContain("Authorization Violation");
    } finally {
      await Promise.all(buses.splice(0).map((bus) => bus.close()));
      await guarded.stop();
    }
  });
});

test("addresses of NATS servers", () => {
  expect(natsAddress("nats://a.example, nats://b.example:4333", {})).toEqual({
    servers: ["a.example:4222", "b.example:4333"],
    tls: false,
  });
  expect(natsAddress("tls://token@a.example?creds=user.creds", {})).toEqual({
    ...{ servers: ["a.example:4222"], tls: true, token: "token", credentials: "user.creds" },
  });
  expect(natsAddress("nats:", { NATS_URL: "nats://ann:x@a.example" })).toMatchObject({ user: "ann", password: "x" });
  expect(() => natsAddress("nats:", {})).toThrow("needs the address of the NATS server in NATS_URL");
  for (const spec of ["nats://", "http://secret@a.example", "nats://secret@a:b"]) {
    expect(() => natsAddress(spec, {})).toThrow(/is not a valid address/);
    expect(() => natsAddress(spec, {})).not.toThrow(/secret/);
  }
});
