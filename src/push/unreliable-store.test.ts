import fc from "fast-check";
import { expect, test } from "vitest";
import { sampled } from "../../test/fixtures/budget.ts";
import { readEvent } from "../protocol/serial.ts";
import { turns } from "../testing/engine-harness.ts";
import { createUnreliableStore, type UnreliableStore } from "../testing/unreliable-store.ts";
import { type Command, type Posted, PushTrial, TASK_DIALECT, type TrialTask } from "./test/push-trial.ts";

/**
 * The same cases every time, so that a failure is caused by the change at hand. `PUSH_RUNS=2000` tries more, others each time; `PUSH_SEED`
 * repeats what a failure printed.
 */
const RUNS = Number(process.env["PUSH_RUNS"] ?? sampled(60, 150));
const SEED = process.env["PUSH_SEED"] ?? (process.env["PUSH_RUNS"] === undefined ? "1" : undefined);

const command: fc.Arbitrary<Command> = fc.record({
  kind: fc.constantFrom("chunk" as const, "chunk" as const, "status" as const),
  text: fc.constantFrom("a", "b", "c", "d"),
});
const scenario = fc.record({
  seed: fc.nat(),
  delay: fc.constantFrom(0, 2, 6, 15),
  failures: fc.constantFrom(0, 0, 0.05, 0.2),
  lost: fc.constantFrom(0, 0, 0.05, 0.2),
  /** One in this many requests is answered with 503. */
  refuses: fc.constantFrom(0, 0, 7),
  tasks: fc.array(fc.array(fc.tuple(command, fc.nat({ max: 12 })), { maxLength: 25 }), { minLength: 1, maxLength: 3 }),
  hasSecondNode: fc.boolean(),
  /** After how many commands another webhook of each kind is set. */
  setLater: fc.nat({ max: 20 }),
});

type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

const EVENTS = "https://events.example";
const TASKS = "https://tasks.example";

/** Advances the shared clock and renews the leases until the condition holds. The nodes share one clock and one store. */
async function until(
  nodes: readonly PushTrial[],
  condition: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  for (let tries = 0; tries < 3000; tries += 1) {
    if (await condition()) return;
    for (const { harness, node } of nodes) await harness.shared.heartbeat(node, 60_000);
    await nodes[0]?.harness.advance(100, 100);
  }
  throw new Error(`Timeout while waiting for ${what}.`);
}

/** Sets a webhook on one of the nodes, and retries if the store fails. */
async function setWebhook(nodes: readonly PushTrial[], task: TrialTask, to: { dialect: string; url: string }) {
  const { dialect, url } = to;
  const node = nodes.at(-1);
  let isSet = false;
  while (!isSet) {
    let isAnswered = false;
    const setting = node?.push.configs.set({ ...node.caller(), dialect }, task.id, { id: url, url });
    void setting
      ?.then(
        () => true,
        () => false,
      )
      .then((result) => {
        isSet = result;
        isAnswered = true;
      });
    await until(nodes, () => isAnswered, "a webhook to be set");
  }
}

function shortOf(body: string): string {
  const event = readEvent(body);
  if (event.kind === "status") return `status:${event.status.state}`;
  return `chunk:${event.artifact.parts.map(({ text = "" }) => text).join("")}`;
}

async function check({
  seed,
  delay,
  failures,
  lost,
  refuses,
  hasSecondNode,
  tasks,
  setLater,
}: Scenario): Promise<void> {
  const delivered: Posted[] = [];
  const stores: UnreliableStore[] = [];
  let requests = 0;
  await using trial = await PushTrial.open({
    settings: { retries: 1000, retryDelay: 10 },
    wrapStore: (inner) => {
      const store = createUnreliableStore(inner, { seed: seed + stores.length, wait: turns });
      stores.push(store);
      return store;
    },
    answer: (posted) => {
      requests += 1;
      if (refuses > 0 && requests % refuses === 0) return 503;
      delivered.push(posted);
      return 200;
    },
  });
  const { shared } = trial.harness;
  const other = hasSecondNode ? await trial.join() : undefined;
  await using _second = { [Symbol.asyncDispose]: async () => other?.harness.pumped(other.push.drain(0)) };
  const nodes = other === undefined ? [trial] : [trial, other];
  const begun: TrialTask[] = [];
  for (const index of tasks.keys()) begun.push(await trial.task(`t${index}`, { url: `${EVENTS}/t${index}` }));
  const unsteady = { commit: failures, log: failures, get: failures, webhooks: failures, claimWebhooks: failures };
  for (const store of stores)
    store.setFaults({ delay: { min: 0, max: delay }, failures: unsteady, lost, reorders: true });
  /** How far the log had come when the later webhooks were set. */
  const setAt = new Map<TrialTask, number>();
  await Promise.all(
    begun.map(async (task, index) => {
      for (const [count, [next, pause]] of (tasks[index] ?? []).entries()) {
        if (count === setLater) {
          await setWebhook(nodes, task, { dialect: "test", url: `${EVENTS}/later${index}` });
          await setWebhook(nodes, task, { dialect: TASK_DIALECT, url: `${TASKS}/later${index}` });
          setAt.set(task, (await shared.positions([task.id]))[0]?.seq ?? 0);
        }
        task.push(next);
        await turns(pause);
      }
      task.push({ kind: "end" });
    }),
  );
  const isDone = async (): Promise<boolean> => {
    const webhooks = await Promise.all(begun.map(({ id }) => shared.webhooks(id)));
    return webhooks.flat().every(({ state }) => state === "idle");
  };
  await until(nodes, isDone, "everything to be delivered");
  for (const store of stores) store.setFaults({});
  const to = (url: string): string[] => delivered.filter((post) => post.url === url).map(({ body }) => body);
  for (const [index, task] of begun.entries()) {
    const log = (await shared.log(task.id, 0, 1e9)).map(({ body }) => shortOf(body));
    expect(to(`${EVENTS}/t${index}`)).toEqual(log);
    const since = setAt.get(task);
    if (since === undefined) continue;
    const later = to(`${EVENTS}/later${index}`);
    expect(later).toEqual(log.slice(log.length - later.length));
    expect(later.length).toBeGreaterThanOrEqual(log.length - since);
    checkTasks(to(`${TASKS}/later${index}`), log);
  }
  expect(trial.harness.fatal).toEqual([]);
}

/** Each whole task equals the log replayed up to its seq, each is later than the one before, and the last one is final. */
function checkTasks(bodies: readonly string[], log: readonly string[]): void {
  let last = 0;
  for (const body of bodies) {
    const [, seq = "", state, text] = /^task@(\d+):\w+:([\w-]+):(.*)$/.exec(body) ?? [];
    const upTo = log.slice(0, Number(seq));
    expect(Number(seq)).toBeGreaterThan(last);
    last = Number(seq);
    expect(text).toBe(upTo.flatMap((each) => (each.startsWith("chunk:") ? [each.slice(6)] : [])).join(""));
    expect(`status:${state}`).toBe(upTo.findLast((each) => each.startsWith("status:")));
  }
  expect(last).toBe(log.length);
}

test("webhooks receive every event once and in order, whatever the delays, failures and lost answers of the store", async () => {
  await fc.assert(fc.asyncProperty(scenario, check), {
    numRuns: RUNS,
    endOnFailure: true,
    ...(SEED !== undefined && { seed: Number(SEED) }),
  });
}, 600_000);
