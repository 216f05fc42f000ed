import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Message } from "../protocol/message.ts";
import { type Part, textOf } from "../protocol/part.ts";
import type { InboxEntry } from "../store/contract.ts";
import type { AskOptions, InputTimeout } from "./agent.ts";
import { type Checked, readAnswer, validateRaw } from "./answer.ts";
import type { Memory, Remembered } from "./memory.ts";
import { TaskFailure } from "./task-failure.ts";
import { ENGINE_NOTE, type TaskWriter } from "./task-writer.ts";
import { TIMED_OUT, type Waits } from "./waits.ts";

export interface QuestionHost {
  readonly writer: TaskWriter;
  readonly memory: Memory;
  readonly waits: Waits;
  readonly signal: AbortSignal;
  readonly inputTimeout: InputTimeout | undefined;
  readonly history: Message[];
  readonly now: () => number;
  readonly open: (entry: InboxEntry) => Message;
}

type Options = AskOptions<StandardSchemaV1 | undefined>;
type Asked = Extract<Remembered, { kind: "asked" }>;

/** Asks, waits, checks, asks again; and after a restart goes on where it was. */
export async function askCaller(host: QuestionHost, question: readonly Part[], options: Options): Promise<unknown> {
  const { memory, writer, waits } = host;
  const key = memory.key("ask", options.name ?? textOf(question));
  const known = memory.recall(key);
  if (known?.kind === "unanswered") return undefined;
  const settled = await recallAnswer(memory, known, options.schema);
  if (settled?.ok === true) return settled.value;

  const timeout = timeoutOf(options, host.inputTimeout);
  // A question that is in the log and still open is not asked twice.
  let asked = known?.kind === "asked" && writer.state === "input-required" ? known : undefined;
  if (asked !== undefined) waits.pause(asked.until);
  let problem: string | undefined;
  for (;;) {
    asked ??= await ask(host, { key, parts: withProblem(question, problem), timeout, sensitive: options.sensitive === true });
    const entry = await answerTo(host, asked);
    if (entry === TIMED_OUT) return giveUp(host, key, timeout);
    const message = host.open(entry);
    const sensitive = options.sensitive === true || entry.sealed;
    const checked = await readAnswer(options.schema, message, { sensitive });
    writer.take(entry, sensitive ? undefined : message);
    if (!sensitive) host.history.push(message);
    waits.resume();
    writer.status("working", { note: ENGINE_NOTE });
    if (checked.ok) {
      memory.remember(key, sensitive ? memory.sealedAnswer(checked.raw) : { kind: "answered", raw: checked.raw });
      await writer.flush();
      return checked.value;
    }
    problem = checked.problem;
    asked = undefined;
  }
}

/** Says what must be authorised and waits for a message, or for the author's own sign that it has happened. */
export async function requireAuth(
  host: QuestionHost,
  explanation: readonly Part[],
  options: { readonly until?: (signal: AbortSignal) => Promise<unknown> },
): Promise<Message | undefined> {
  const { memory, writer, waits } = host;
  const key = memory.key("auth", textOf(explanation));
  const known = memory.recall(key);
  if (known?.kind === "message") return memory.openMessage(known);
  if (known?.kind === "nothing") return undefined;
  let asked = known?.kind === "asked" && writer.state === "auth-required" ? known : undefined;
  if (asked === undefined) {
    if (!writer.isStored) await writer.flush();
    writer.status("auth-required", { parts: explanation, note: ENGINE_NOTE });
    asked = record(host, { key, until: undefined });
    await writer.flush();
  } else waits.pause(undefined);
  const { before } = asked;
  let authorised = false;
  const poll = (): InboxEntry | true | undefined => arrived(writer, before) ?? (authorised ? true : undefined);
  const waiting = waits.wait({ poll, pauses: true, parks: options.until === undefined });
  const outside = options.until?.(host.signal).then(() => {
    authorised = true;
    waits.poll();
  });
  const entry = await (outside === undefined ? waiting : Promise.race([waiting, outside.then(() => waiting)]));
  waits.resume();
  const message = entry === true || entry === TIMED_OUT ? undefined : host.open(entry);
  if (message !== undefined && entry !== true && entry !== TIMED_OUT) {
    writer.take(entry, entry.sealed ? undefined : message);
    host.history.push(message);
    memory.remember(key, memory.messageRecord(message, entry.sealed));
  } else memory.remember(key, { kind: "nothing" });
  writer.status("working", { note: ENGINE_NOTE });
  await writer.flush();
  return message;
}

interface Question {
  readonly key: string;
  readonly parts: readonly Part[];
  readonly timeout: InputTimeout | undefined;
  readonly sensitive: boolean;
}

async function ask(host: QuestionHost, question: Question): Promise<Asked> {
  const { writer, now } = host;
  if (!writer.isStored) await writer.flush();
  writer.status("input-required", {
    parts: question.parts,
    note: ENGINE_NOTE,
    // Tells whoever shows the question to mask what is typed.
    ...(question.sensitive && { messageMetadata: { sensitive: true } }),
  });
  if (question.sensitive) writer.keep({ runner: { sensitive: true } });
  const until = question.timeout === undefined ? undefined : now() + question.timeout.ms;
  record(host, { key: question.key, until });
  await writer.flush();
  // Messages that are there by now were sent before anybody could see the question.
  return { kind: "asked", before: waitingIds(writer), ...(until !== undefined && { until }) };
}

function record(host: QuestionHost, question: { readonly key: string; readonly until: number | undefined }): Asked {
  const { memory, writer, waits } = host;
  const { until } = question;
  const asked: Asked = { kind: "asked", before: waitingIds(writer), ...(until !== undefined && { until }) };
  memory.remember(question.key, asked);
  waits.pause(until);
  return asked;
}

function answerTo(host: QuestionHost, asked: Asked): Promise<InboxEntry | typeof TIMED_OUT> {
  return host.waits.wait({ poll: () => arrived(host.writer, asked.before), until: asked.until, pauses: true, parks: true });
}

async function giveUp(host: QuestionHost, key: string, timeout: InputTimeout | undefined): Promise<undefined> {
  const { memory, writer, waits } = host;
  if (timeout?.then !== "continue") {
    const timeoutSeconds = (timeout?.ms ?? 0) / 1000;
    throw new TaskFailure("Input timeout", { code: "input-timeout", data: { taskId: writer.ref.id, timeoutSeconds } });
  }
  waits.resume();
  writer.status("working", { note: ENGINE_NOTE });
  memory.remember(key, { kind: "unanswered" });
  await writer.flush();
  return undefined;
}

async function recallAnswer(
  memory: Memory,
  known: Remembered | undefined,
  schema: StandardSchemaV1 | undefined,
): Promise<Checked | undefined> {
  if (known?.kind === "answered") return validateRaw(schema, known.raw);
  if (known?.kind === "sealed") return validateRaw(schema, memory.openAnswer(known.sealed));
  return undefined;
}

function timeoutOf(options: Options, agentWide: InputTimeout | undefined): InputTimeout | undefined {
  const ms = options.timeout ?? agentWide?.ms;
  return ms === undefined ? undefined : { ms, then: options.onTimeout ?? agentWide?.then ?? "fail" };
}

function withProblem(question: readonly Part[], problem: string | undefined): readonly Part[] {
  return problem === undefined ? question : [{ text: `That answer does not fit: ${problem}\n` }, ...question];
}

function arrived(writer: TaskWriter, before: readonly string[]): InboxEntry | undefined {
  return writer.inbox.find((entry) => entry.kind === "message" && !before.includes(entry.id));
}

function waitingIds(writer: TaskWriter): string[] {
  return writer.inbox.filter((entry) => entry.kind === "message").map((entry) => entry.id);
}
