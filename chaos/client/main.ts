import type { AgentClient } from "../../src/client/api.ts";
import { openJournal } from "../journal.ts";
import { planTask, type TaskPlan } from "../plan.ts";
import { createRandom } from "../random.ts";
import { Conversation } from "./conversation.ts";
import { DIALECTS } from "./dialects.ts";
import { callUntilAnswered } from "./http.ts";
import { connectPatiently, readWithOwnClient } from "./own-reader.ts";
import { Pending } from "./pending.ts";
import { readStream } from "./raw-reader.ts";

/** The JSON argument of a client process. */
export interface ClientSetup {
  readonly url: string;
  /** The address of the webhook receiver. */
  readonly hooks: string;
  readonly journal: string;
  readonly seed: string;
  /** Starts with 0. Selects the dialect and the names of the tasks. */
  readonly client: number;
  /** Number of concurrent tasks. */
  readonly concurrency: number;
}

/** Commands from the parent over IPC: start no more tasks; write pending waits to the journal, and exit. */
export type ClientCommand = "finish" | "give-up";

const setup: ClientSetup = JSON.parse(process.argv[2] ?? "");
const { url } = setup;
const dialect = DIALECTS[setup.client % DIALECTS.length] ?? DIALECTS[0];
const journal = openJournal(setup.journal);
const pending = new Pending(journal);
const abort = new AbortController();
const { signal } = abort;
const random = createRandom(setup.seed);
let tasks = 0;
let isFinishing = false;

process.on("message", (command: ClientCommand) => {
  isFinishing = true;
  if (command !== "give-up") return;
  pending.giveUp();
  process.exit(0);
});
process.on("disconnect", () => process.exit(1));

const agent = await connectPatiently(url, dialect);
await Promise.all(Array.from({ length: setup.concurrency }, sendTasks));
process.exit(0);

async function sendTasks(): Promise<void> {
  while (!isFinishing) {
    const name = `c${setup.client}-t${tasks++}`;
    const plan = planTask(random.fork(name), name);
    await pending.track(name, `task ${name}`, () => perform(plan, agent));
  }
}

async function perform(plan: TaskPlan, own: AgentClient): Promise<void> {
  const { name, actions, sending } = plan;
  const conversation = new Conversation({ url, dialect, journal, plan, pending, signal });
  const text = JSON.stringify({ name, actions });
  const webhook = plan.webhook ? `${setup.hooks}/${dialect.version}/${name}` : undefined;
  const message = { messageId: name, text };
  const common = { url, dialect, journal, task: name, signal };
  const readers: Promise<void>[] = [];
  const lineHandler = { onLine: (line: string) => conversation.hear(line) };
  const onTask = (taskId: string): void => {
    conversation.begin(taskId);
    if (!plan.slowReader) return;
    const reader = `${name} slow`;
    readers.push(pending.track(name, reader, () => readStream({ ...common, reader, taskId, pause: 8 })));
  };
  if (sending === "own-client") {
    const answer = (question: string): string => conversation.answerFor(question);
    const reader = `${name} own client`;
    await pending.track(name, reader, () =>
      readWithOwnClient({ ...common, ...lineHandler, agent: own, reader, text, webhook, onTask, answer }),
    );
  } else if (sending === "stream") {
    const first = dialect.stream(message, { waits: true, webhook });
    const reader = `${name} stream`;
    await pending.track(name, reader, () => readStream({ ...common, ...lineHandler, reader, first, onTask }));
  } else {
    const call = dialect.send(message, { waits: false, webhook });
    const outcome = await callUntilAnswered(url, call, { dialect, signal });
    if (outcome.kind !== "task") throw new Error(`The first message was refused: ${outcome.why}`);
    const taskId = outcome.task.id;
    onTask(taskId);
    const reader = `${name} subscription`;
    await pending.track(name, reader, () => readStream({ ...common, ...lineHandler, reader, taskId }));
  }
  await conversation.finished();
  await Promise.all(readers);
}
