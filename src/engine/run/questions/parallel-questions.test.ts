import fc from "fast-check";
import { expect, test } from "vitest";
import { sampled } from "../../../../test/fixtures/budget.ts";
import { inputRequestsOf } from "../../../protocol/input-request.ts";
import { textOf } from "../../../protocol/part.ts";
import type { Task } from "../../../protocol/task.ts";
import { toolResultOf, toolResultPart } from "../../../protocol/tool-part.ts";
import { openSqliteStore } from "../../../store/sqlite/store.ts";
import { type EngineHarness, type HarnessOptions, openHarness, scripted } from "../../../testing/engine-harness.ts";
import { temporaryFolder } from "../../../testing/temporary-folder.ts";

const MAX_QUESTIONS = 5;
/** A third crash without progress fails the task. */
const MAX_CRASHES = 2;

interface Asked {
  readonly auth: boolean;
  readonly sensitive: boolean;
  /** The run asks it this many turns of the event loop after the others. */
  readonly late: number;
}

/** One action of a trial. `pick` modulo the number of open questions selects a question. */
interface Happening {
  readonly kind: "answer" | "answer two" | "answer twice" | "answer none" | "answer closed" | "crash" | "park";
  readonly pick: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({ auth: fc.boolean(), sensitive: fc.boolean(), late: fc.nat(3) });
const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom("answer", "answer two", "answer twice", "answer none", "answer closed", "crash", "park"),
  pick: fc.nat(20),
});
const trial = fc.tuple(
  fc.array(asked, { minLength: 2, maxLength: MAX_QUESTIONS }),
  fc.array(happening, { maxLength: 12, size: "max" }),
);

const promptOf = (index: number): string => `Question ${index}?`;
const answerTo = (prompt: string): string => `the answer to ${prompt}`;

/** Asks everything at the same time and returns the answers in order. */
function asking(questions: readonly Asked[]): HarnessOptions["agents"] {
  return scripted(async (task) => {
    const answers = questions.map(async ({ auth, sensitive, late }, index) => {
      for (let turn = 0; turn < late; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      if (!auth) return task.ask(promptOf(index), { sensitive });
      if (sensitive) return task.requireAuth({ message: promptOf(index), secret: true });
      const message = await task.requireAuth(promptOf(index));
      const [part] = message?.parts ?? [];
      return part === undefined ? "" : JSON.stringify(toolResultOf(part)?.result).slice(1, -1);
    });
    return (await Promise.all(answers)).join("|");
  });
}

async function runTrial(
  [questions, happenings]: readonly [readonly Asked[], readonly Happening[]],
  openStore?: HarnessOptions["openStore"],
): Promise<void> {
  const options = { agents: asking(questions), parkAfter: 5000, ...(openStore !== undefined && { openStore }) };
  let harness = await openHarness(options);
  let crashes = 0;
  await using world = harness;
  const { taskId } = await world.start("go");
  const ids = new Map<string, string>();
  /** Waits until the task has ended or shows only open questions. */
  const settledTask = async (): Promise<Task> => {
    await harness.until(async () => {
      const { status } = await harness.get(taskId);
      const open = inputRequestsOf(status.message);
      return (
        status.state === "completed" || (status.state !== "working" && open.every(({ prompt }) => !closed.has(prompt)))
      );
    });
    const task = await harness.get(taskId);
    for (const { prompt, requestId } of inputRequestsOf(task.status.message)) {
      // An open question keeps its id.
      expect(ids.get(prompt) ?? requestId).toBe(requestId);
      ids.set(prompt, requestId);
    }
    return task;
  };
  const closed = new Set<string>();
  const answer = (...prompts: readonly string[]): Promise<unknown> => {
    const parts = prompts.map((prompt) =>
      toolResultPart({ toolUseId: ids.get(prompt) ?? "", result: answerTo(prompt) }),
    );
    return harness.start({ taskId, parts });
  };
  // A lone authorisation shows no id, so all ids are read before the first answer.
  await harness.until(
    async () => inputRequestsOf((await harness.get(taskId)).status.message).length === questions.length,
  );
  for (const { kind, pick } of happenings) {
    await settledTask();
    const open = [...ids.keys()].filter((prompt) => !closed.has(prompt));
    const [first, second] = [open[pick % open.length], open[(pick + 1) % open.length]];
    if (first === undefined || second === undefined) break;
    if (kind === "answer") {
      await answer(first);
      closed.add(first);
    } else if (kind === "answer two" && first !== second) {
      await answer(first, second);
      closed.add(first).add(second);
    } else if (kind === "answer twice" && open.length > 1) {
      // The second one may be rejected or too late; it must neither answer another question nor begin another turn.
      await Promise.allSettled([answer(first), answer(first)]);
      closed.add(first);
    } else if (kind === "answer none" && open.length > 1) {
      await expect(harness.start({ taskId, parts: [{ text: "for nobody" }] })).rejects.toThrow(first);
    } else if (kind === "answer closed") {
      for (const prompt of closed) await expect(answer(prompt)).rejects.toThrow(/answered or closed/);
    } else if (kind === "crash" && crashes < MAX_CRASHES) {
      crashes += 1;
      harness = await harness.crash();
    } else if (kind === "park") await harness.advance(7000);
  }
  for (let task = await settledTask(); task.status.state !== "completed"; task = await settledTask()) {
    const prompt = [...ids.keys()].find((name) => !closed.has(name));
    if (prompt === undefined) break;
    await answer(prompt);
    closed.add(prompt);
  }
  await checkResult(harness, { taskId, questions });
}

async function checkResult(
  harness: EngineHarness,
  { taskId, questions }: { readonly taskId: Task["id"]; readonly questions: readonly Asked[] },
): Promise<void> {
  await harness.untilState(taskId, "completed");
  const { artifacts, history } = await harness.get(taskId);
  expect(textOf(artifacts?.[0]?.parts ?? [])).toBe(questions.map((_, index) => answerTo(promptOf(index))).join("|"));
  for (const [index, { sensitive }] of questions.entries())
    if (sensitive) expect(JSON.stringify(history)).not.toContain(answerTo(promptOf(index)));
}

/** Fixed, so that every run makes the same trials. */
const SEED = 1;

test("every answer reaches its question, in any order, despite crashes and parking", async () => {
  await fc.assert(
    fc.asyncProperty(trial, (some) => runTrial(some)),
    { numRuns: sampled(60, 150), seed: SEED },
  );
});

test("every answer reaches its question with a store in a file", async () => {
  await using folder = await temporaryFolder();
  let files = 0;
  const openStore: HarnessOptions["openStore"] = (setup) =>
    openSqliteStore({ ...setup, file: folder.file(`${++files}.db`), durability: "process" });
  await fc.assert(
    fc.asyncProperty(trial, (some) => runTrial(some, openStore)),
    { numRuns: sampled(4, 8), seed: SEED },
  );
});
