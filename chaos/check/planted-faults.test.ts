import { describe, expect, it } from "vitest";
import type { TaskEvent } from "../../src/protocol/event.ts";
import type { ArtifactId } from "../../src/protocol/ids.ts";
import { lineOf } from "../event-line.ts";
import type { Entry } from "../journal.ts";
import { planTask, type TaskPlan } from "../plan.ts";
import { createRandom } from "../random.ts";
import { picturesOf, type TaskTruth } from "../truth.ts";
import { checkAnswers } from "./check-answers.ts";
import { checkRun, type Evidence } from "./check-run.ts";

const NAME = "c0-t0";
const PLAN: TaskPlan = {
  name: NAME,
  sending: "stream",
  webhook: true,
  slowReader: false,
  answers: [{ waits: true, twice: false }],
  actions: [
    { do: "write", chunks: 2, size: 1, pause: 0 },
    { do: "step", name: "step-1", work: 0 },
    { do: "ask", question: 1 },
    { do: "next", messages: 1 },
  ],
};

function status(state: Extract<TaskEvent, { kind: "status" }>["status"]["state"]): TaskEvent {
  return { kind: "status", status: { state, timestamp: "2030-01-01T00:00:00Z" } };
}

function chunk(name: string, text: string): TaskEvent {
  const artifact = { artifactId: name as ArtifactId, name, parts: [{ text }] };
  return { kind: "artifact", artifact, append: true, lastChunk: false };
}

const EVENTS = [
  status("working"),
  chunk("output", "0:x;"),
  chunk("output", "1:x;"),
  chunk("steps", "step-1;"),
  status("input-required"),
  status("working"),
  chunk("answers", `1=${NAME}/answer-1-1;`),
  chunk("inbox", `${NAME}/message-1;`),
  status("completed"),
];

const TRUTH: TaskTruth = {
  id: "id-0",
  name: NAME,
  state: "completed",
  events: EVENTS,
  log: EVENTS.map(lineOf),
  artifacts: {
    output: "0:x;1:x;",
    steps: "step-1;",
    answers: `1=${NAME}/answer-1-1;`,
    inbox: `${NAME}/message-1;`,
  },
  messages: [NAME, `${NAME}/answer-1-1`, `${NAME}/message-1`],
  webhooks: ["idle"],
};

const reader = `${NAME} stream`;
const FRAMES = TRUTH.log.map((line, index): Entry => ({ kind: "frame", at: 0, reader, seq: index + 1, line }));
const CLIENT: readonly Entry[] = [
  { kind: "sent", at: 0, task: NAME, taskId: "id-0" },
  { kind: "snapshot", at: 0, task: NAME, reader, seq: 0 },
  ...FRAMES,
  { kind: "said", at: 0, task: NAME, text: `${NAME}/answer-1-1` },
  { kind: "answered", at: 9, begun: 5, task: NAME, question: 1, state: "completed", text: "" },
  { kind: "said", at: 0, task: NAME, text: `${NAME}/message-1` },
  { kind: "read-to-end", at: 0, task: NAME, reader },
];

type Notified = Extract<Entry, { kind: "notified" }>;

function notified(version: "1.0" | "0.3", number: number, content: Notified["content"]): Notified {
  return { kind: "notified", at: 0, task: NAME, hook: `/${version}/${NAME}`, jti: `n${number}`, content, answer: 200 };
}

const HOOK = TRUTH.log.map((line, index) => notified("1.0", index, line));
const PICTURES = [...picturesOf(EVENTS)].map((picture, index) => notified("0.3", index, picture));
const STEPS: readonly Entry[] = [
  { kind: "step", at: 0, key: `${NAME}/step-1`, moment: "begin", pid: 1 },
  { kind: "step", at: 0, key: `${NAME}/step-1`, moment: "begin", pid: 2 },
  { kind: "step", at: 0, key: `${NAME}/step-1`, moment: "committed", pid: 2 },
  { kind: "step", at: 0, key: `${NAME}/step-1`, moment: "committed", pid: 3 },
];

const GOOD: Evidence = {
  tasks: [TRUTH],
  clients: CLIENT,
  receiver: HOOK,
  steps: STEPS,
  drains: [{ begun: 20, over: 21, code: 0 }],
  deaths: [],
  planOf: () => PLAN,
};

const kindsOf = (change: Partial<Evidence>) => checkRun({ ...GOOD, ...change }).map(({ kind }) => kind);
const withTruth = (change: Partial<TaskTruth>) => kindsOf({ tasks: [{ ...TRUTH, ...change }] });
const withoutEntry = (entry: Entry | undefined) => CLIENT.filter((other) => other !== entry);

describe("a run without faults", () => {
  it("has no discrepancy", () => {
    expect(checkRun(GOOD)).toEqual([]);
    expect(kindsOf({ receiver: PICTURES })).toEqual([]);
  });

  it("may repeat the last notification, and skip chunks between whole tasks", () => {
    expect(kindsOf({ receiver: HOOK.flatMap((one) => [one, one]) })).toEqual([]);
    expect(kindsOf({ receiver: PICTURES.toSpliced(1, 2) })).toEqual([]);
  });
});

describe("the checks find", () => {
  it("an event that a reader lost", () => expect(kindsOf({ clients: withoutEntry(FRAMES[3]) })).toEqual(["lost"]));

  it("an event that a reader received twice", () => {
    const at = CLIENT.indexOf(FRAMES[3] as Entry);
    expect(kindsOf({ clients: CLIENT.toSpliced(at, 0, FRAMES[3] as Entry) })).toEqual(["repeated"]);
  });

  it("two events that a reader received in the wrong order", () => {
    const at = CLIENT.indexOf(FRAMES[3] as Entry);
    const swapped = CLIENT.toSpliced(at, 2, FRAMES[4] as Entry, FRAMES[3] as Entry);
    expect(kindsOf({ clients: swapped })).toEqual(["out-of-order"]);
  });

  it("an event with a wrong number", () => {
    const at = CLIENT.indexOf(FRAMES[8] as Entry);
    const moved: Entry = { kind: "frame", at: 0, reader, seq: 10, line: "status completed" };
    expect(kindsOf({ clients: CLIENT.with(at, moved) })).toEqual(["lost", "changed"]);
  });

  it("a whole task in the middle of a stream instead of events", () => {
    const at = CLIENT.indexOf(FRAMES[3] as Entry);
    const snapshot: Entry = { kind: "snapshot", at: 0, task: NAME, reader, seq: 5 };
    expect(kindsOf({ clients: CLIENT.toSpliced(at, 2, snapshot) })).toEqual(["lost"]);
  });

  it("events that our own client merged", () => {
    const own = `${NAME} own client`;
    const events = TRUTH.log.map((line): Entry => ({ kind: "event", at: 0, task: NAME, reader: own, line }));
    const picture = [...picturesOf(EVENTS)].at(-1);
    const end = { kind: "read-to-end", at: 0, task: NAME, reader: own } as const;
    const whole: Entry = picture === undefined ? end : { ...end, picture };
    expect(kindsOf({ clients: [...CLIENT, ...events, whole] })).toEqual([]);
    expect(kindsOf({ clients: [...CLIENT, ...events.toSpliced(5, 1), whole] })).toEqual(["merged"]);
    const wrong: Entry = { ...end, picture: { status: "status completed", artifacts: {} } };
    expect(kindsOf({ clients: [...CLIENT, ...events.toSpliced(3, 1), wrong] })).toEqual(["lost"]);
  });

  it("a step that ran again after it was committed", () => {
    const again: Entry = { kind: "step", at: 0, key: `${NAME}/step-1`, moment: "begin", pid: 4 };
    expect(kindsOf({ steps: [...STEPS, again] })).toEqual(["step-again"]);
  });

  it("a whole task instead of an event, at a webhook", () => {
    const whole = notified("1.0", 3, { status: "status working", artifacts: { output: "0:x;1:x;" } });
    expect(kindsOf({ receiver: HOOK.toSpliced(3, 1, whole) })).toEqual(["whole-task"]);
  });

  it("a notification that was lost, repeated with another id, or delivered too late", () => {
    expect(kindsOf({ receiver: HOOK.toSpliced(3, 1) })).toEqual(["lost"]);
    expect(kindsOf({ receiver: HOOK.toSpliced(3, 0, notified("1.0", 99, TRUTH.log[2] ?? "")) })).toEqual(["repeated"]);
    expect(kindsOf({ receiver: [...HOOK, HOOK[3] as Notified] })).toEqual(["out-of-order"]);
  });

  it("one notification id with two contents", () => {
    expect(kindsOf({ receiver: HOOK.toSpliced(4, 0, notified("1.0", 3, "other")) })).toEqual(["changed"]);
    const whole = notified("1.0", 3, { status: "status working", artifacts: {} });
    expect(kindsOf({ receiver: HOOK.toSpliced(4, 0, whole) })).toEqual(["whole-task"]);
  });

  it("a whole task that a webhook received too late, that never existed, or that lacks a status", () => {
    expect(kindsOf({ receiver: PICTURES.toSpliced(5, 0, notified("0.3", 99, PICTURES[1]?.content ?? "")) })).toEqual([
      "out-of-order",
    ]);
    expect(kindsOf({ receiver: [notified("0.3", 99, { status: "status failed", artifacts: {} })] })).toEqual([
      "changed",
    ]);
    expect(kindsOf({ receiver: PICTURES.slice(0, -1) })).toEqual(["lost"]);
    expect(kindsOf({ receiver: PICTURES.toSpliced(4, 1) })).toEqual(["skipped-status"]);
  });

  it("a webhook with pending notifications", () => {
    expect(withTruth({ webhooks: ["active"] })).toEqual(["stuck"]);
  });

  it("an acknowledged send that is not in the store, and a message that created two tasks", () => {
    expect(kindsOf({ clients: CLIENT.with(0, { kind: "sent", at: 0, task: NAME, taskId: "id-1" }) })).toEqual(["lost"]);
    expect(kindsOf({ tasks: [TRUTH, TRUTH] })).toEqual(["repeated"]);
  });

  it("an inbox message that was never read, read twice, or read although it was refused", () => {
    const { inbox: _, ...unread } = TRUTH.artifacts;
    expect(withTruth({ artifacts: unread })).toEqual(["lost"]);
    const twice = { ...TRUTH.artifacts, late: `${NAME}/message-1;` };
    expect(withTruth({ artifacts: twice })).toEqual(["repeated"]);
    const clients = CLIENT.map(
      (entry): Entry =>
        entry.kind === "said" && entry.text.includes("message") ? { ...entry, kind: "refused", why: "ended" } : entry,
    );
    expect(kindsOf({ clients })).toEqual(["changed"]);
  });

  it("a question that was answered twice, and an answer that returned the same question", () => {
    const answers = `1=${NAME}/answer-1-1;1=other;`;
    expect(withTruth({ artifacts: { ...TRUTH.artifacts, answers } })).toEqual(["changed"]);
    const same: Entry = {
      kind: "answered",
      at: 9,
      begun: 5,
      task: NAME,
      question: 1,
      state: "input-required",
      text: "question 1",
    };
    const clients = CLIENT.map((entry) => (entry.kind === "answered" ? same : entry));
    expect(kindsOf({ clients })).toEqual(["ended-wrong"]);
    expect(kindsOf({ clients, drains: [{ begun: 7, over: 8, code: 0 }] })).toEqual([]);
  });

  it("an answer that returned while the task worked, unless another message had answered the next question", () => {
    const early: Entry = { kind: "answered", at: 9, begun: 5, task: NAME, question: 1, state: "working", text: "" };
    const said: Entry = { kind: "saying", at: 6, task: NAME, text: `${NAME}/message-1` };
    const entries = [early, said];
    const check = (answers: string) =>
      checkAnswers(entries, { tasks: new Map([[NAME, { ...TRUTH, artifacts: { answers } }]]), drains: [] });
    expect(check(`1=${NAME}/answer-1-1;2=${NAME}/message-1;`)).toEqual([]);
    for (const answers of ["", `1=${NAME}/message-1;`, `2=${NAME}/answer-2-1;`])
      expect(check(answers)).toMatchObject([{ kind: "ended-wrong" }]);
  });

  it("a task that is stuck, was abandoned, failed, or was canceled without a cancel request", () => {
    expect(withTruth({ state: "working" })).toEqual(["stuck"]);
    const log = TRUTH.log.with(-1, 'status failed "attempts-exhausted: …"');
    expect(
      kindsOf({
        tasks: [{ ...TRUTH, state: "failed", log }],
        clients: [],
        receiver: HOOK.with(-1, notified("1.0", 8, log.at(-1) ?? "")),
      }),
    ).toEqual(["attempts-exhausted"]);
    expect(withTruth({ state: "failed" })).toEqual(["ended-wrong"]);
    expect(withTruth({ state: "canceled" })).toEqual(["ended-wrong"]);
  });

  it("a cancel that succeeded although the task completed", () => {
    const cancel: Entry = { kind: "canceled", at: 0, task: NAME, outcome: "canceled" };
    expect(kindsOf({ clients: [...CLIENT, cancel] })).toEqual(["ended-wrong"]);
  });

  it("artifacts that differ from the script", () => {
    expect(withTruth({ artifacts: { ...TRUTH.artifacts, output: "0:x;0:x;1:x;" } })).toEqual(["changed"]);
  });

  it("a caller that still waits; with two answers to one question it is second-answer", () => {
    const waiting: Entry = { kind: "waiting", at: 0, task: NAME, what: "the second answer to question 1" };
    const task: Entry = { kind: "waiting", at: 0, task: NAME, what: `task ${NAME}` };
    const clients = [...CLIENT, waiting, task];
    expect(kindsOf({ clients })).toEqual(["stuck"]);
    const planOf = () => ({ ...PLAN, answers: [{ waits: true, twice: true }] });
    expect(kindsOf({ clients, planOf })).toEqual(["second-answer"]);
    const stuck = { ...TRUTH, state: "input-required" };
    expect(kindsOf({ clients, planOf, tasks: [stuck] })).toEqual(["second-answer"]);
  });

  it("a client that failed, without reporting its waiting task too", () => {
    const failed: Entry = { kind: "failed", at: 0, task: NAME, what: "the stream" };
    expect(kindsOf({ clients: [...CLIENT, failed] })).toEqual(["failed"]);
    const stuck = { ...TRUTH, state: "input-required" };
    expect(kindsOf({ clients: [...CLIENT, failed], tasks: [stuck] })).toEqual(["failed"]);
  });

  it("a server that crashed, or did not shut down regularly", () => {
    expect(kindsOf({ deaths: ["The server ended by itself."] })).toEqual(["died"]);
    expect(kindsOf({ drains: [{ begun: 0, over: 1, code: 1 }] })).toEqual(["died"]);
  });
});

describe("a plan", () => {
  it("is the same for the same seed and name, and different for others", () => {
    const plan = (seed: string, name: string) => planTask(createRandom(seed).fork(name), name);
    expect(plan("a", "c0-t1")).toEqual(plan("a", "c0-t1"));
    const plans = ["a", "b", "c"].map((seed) => JSON.stringify(plan(seed, "c0-t1")));
    expect(new Set(plans).size).toBe(3);
  });
});
