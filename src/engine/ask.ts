import type { StandardSchemaV1 } from "@standard-schema/spec";
import { uuidv7 } from "../internal/uuid.ts";
import type { Message } from "../protocol/message.ts";
import { type Part, textOf } from "../protocol/part.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import { toolUsePart } from "../protocol/tool-part.ts";
import type { InboxEntry } from "../store/contract.ts";
import type { AskOptions, InputTimeout } from "./agent.ts";
import { type Checked, readAnswer, validateRaw } from "./answer.ts";
import type { Memory, Remembered } from "./memory.ts";
import { ENGINE_NOTE } from "./note.ts";
import type { ContextHost } from "./task-context.ts";
import { TaskFailure } from "./task-failure.ts";
import type { TaskWriter } from "./task-writer.ts";
import { TIMED_OUT, type Waits } from "./waits.ts";

export interface QuestionHost {
  readonly writer: TaskWriter;
  readonly memory: Memory;
  readonly waits: Waits;
  readonly history: Message[];
  /** What earlier attempts at this turn have read, by inbox entry. */
  readonly taken: ReadonlyMap<string, Message>;
  readonly run: Pick<ContextHost, "signal" | "inputTimeout" | "now" | "openEntry">;
  /** Throws once the run may write no more. Asked after every wait: the task may have been taken away meanwhile. */
  readonly check: () => void;
}

/** The answer was sealed with a secret that is not known any more. */
const UNREADABLE: Checked = { ok: false, problem: "It could not be read; please send it once more." };

type Options = AskOptions<StandardSchemaV1 | undefined>;
type Asked = Extract<Remembered, { kind: "asked" }>;

/** Asks, waits, checks, asks again; and after a restart goes on where it was. */
export async function askCaller(host: QuestionHost, question: readonly Part[], options: Options): Promise<unknown> {
  const { memory, writer, waits } = host;
  const key = memory.key("ask", options.name ?? textOf(question));
  const known = memory.recall(key);
  if (known?.kind === "unanswered") return undefined;
  const settled = await recallAnswer(memory, known, options.schema);
  if (settled?.ok === true) {
    recallMessage(host, known);
    return settled.value;
  }

  const timeout = timeoutOf(options, host.run.inputTimeout);
  // A question that is in the log and still open is not asked twice.
  let asked = known?.kind === "asked" && writer.state === "input-required" ? known : undefined;
  if (asked !== undefined) {
    if (options.sensitive === true) writer.keep({ runner: { sensitive: true } });
    waits.pause(asked.until);
  }
  let problem: string | undefined;
  for (;;) {
    asked ??= await ask(host, {
      key,
      parts: withProblem(question, problem),
      timeout,
      sensitive: options.sensitive === true,
      tool: options.tool,
    });
    const entry = await answerTo(host, asked);
    host.check();
    if (entry === TIMED_OUT) return giveUp(host, key, timeout);
    const message = host.run.openEntry(entry);
    const sensitive = options.sensitive === true || entry.sealed;
    const checked = message === undefined ? UNREADABLE : await readAnswer(options.schema, message, { sensitive });
    host.check();
    writer.take(entry, sensitive ? undefined : message);
    if (!sensitive && message !== undefined) host.history.push(message);
    waits.resume();
    writer.status("working", { note: ENGINE_NOTE });
    if (checked.ok) {
      memory.remember(
        key,
        sensitive ? memory.sealedAnswer(checked.raw) : { kind: "answered", raw: checked.raw, inbox: entry.id },
      );
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
  const read = known?.kind === "message" ? memory.openMessage(known) : undefined;
  if (read !== undefined) {
    if (known?.kind === "message" && known.sealed !== true) host.history.push(read);
    return read;
  }
  if (known?.kind === "nothing") return undefined;
  let asked = known?.kind === "asked" && writer.state === "auth-required" ? known : undefined;
  if (asked === undefined) {
    if (!writer.isStored) await writer.flush();
    host.check();
    writer.status("auth-required", { parts: explanation, note: ENGINE_NOTE });
    asked = record(host, { key, until: undefined });
    await writer.flush();
  } else waits.pause(undefined);
  const { before } = asked;
  let sign: OutsideSign | undefined;
  const poll = (): InboxEntry | OutsideSign | undefined => arrived(writer, before) ?? sign;
  const waiting = waits.wait({ poll, pauses: true, parks: options.until === undefined });
  const give = (given: OutsideSign): void => {
    sign = given;
    waits.poll();
  };
  options.until?.(host.run.signal).then(
    () => give({ authorised: true }),
    (error: unknown) => give({ authorised: false, error }),
  );
  const entry = await waiting;
  host.check();
  waits.resume();
  if (entry !== TIMED_OUT && "authorised" in entry && !entry.authorised) {
    writer.status("working", { note: ENGINE_NOTE });
    throw entry.error;
  }
  const taken = entry === TIMED_OUT || "authorised" in entry ? undefined : entry;
  const message = taken === undefined ? undefined : host.run.openEntry(taken);
  if (taken !== undefined) writer.take(taken, taken.sealed ? undefined : message);
  if (message !== undefined && taken !== undefined) {
    if (!taken.sealed) host.history.push(message);
    memory.remember(key, memory.messageRecord(message, taken.sealed));
  } else memory.remember(key, { kind: "nothing" });
  writer.status("working", { note: ENGINE_NOTE });
  await writer.flush();
  return message;
}

/** What became of the author's own wait for the authorisation. */
type OutsideSign = { readonly authorised: true } | { readonly authorised: false; readonly error: unknown };

interface Question {
  readonly key: string;
  readonly parts: readonly Part[];
  readonly timeout: InputTimeout | undefined;
  readonly sensitive: boolean;
  readonly tool: Options["tool"];
}

async function ask(host: QuestionHost, question: Question): Promise<Asked> {
  const { writer, run } = host;
  if (!writer.isStored) await writer.flush();
  host.check();
  const { parts, sensitive, tool } = question;
  const requestId = uuidv7();
  writer.status("input-required", {
    parts: tool === undefined ? parts : [...parts, toolUsePart({ toolUseId: requestId, ...tool })],
    note: ENGINE_NOTE,
    messageMetadata: {
      // Names the question, for callers that answer several.
      inputRequest: { kind: "input-request", prompt: textOf(parts), requestId, ...(sensitive && { sensitive }) },
      // Tells whoever shows the question to mask what is typed.
      ...(sensitive && { sensitive }),
    },
  });
  if (sensitive) writer.keep({ runner: { sensitive: true } });
  const until = question.timeout === undefined ? undefined : run.now() + question.timeout.ms;
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
  return host.waits.wait({
    poll: () => arrived(host.writer, asked.before),
    until: asked.until,
    pauses: true,
    parks: true,
  });
}

async function giveUp(host: QuestionHost, key: string, timeout: InputTimeout | undefined): Promise<undefined> {
  const { memory, writer, waits } = host;
  if (timeout?.then !== "continue") {
    const timeoutSeconds = (timeout?.ms ?? 0) / 1000;
    throw new TaskFailure("Input timeout", {
      code: "input-timeout",
      data: { taskId: publicTaskId(writer.ref.id), timeoutSeconds },
    });
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
  const opened = known?.kind === "sealed" ? memory.openAnswer(known.sealed) : undefined;
  return opened === undefined ? undefined : validateRaw(schema, opened);
}

/** An answer that was read in an earlier attempt has been said in this one too. */
function recallMessage({ history, taken }: QuestionHost, known: Remembered | undefined): void {
  const message = known?.kind === "answered" && known.inbox !== undefined ? taken.get(known.inbox) : undefined;
  if (message !== undefined) history.push(message);
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
