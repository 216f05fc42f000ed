import type { StandardSchemaV1 } from "@standard-schema/spec";
import { uuidv7 } from "../internal/uuid.ts";
import { type Part, textOf } from "../protocol/part.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import { toolUsePart } from "../protocol/tool-part.ts";
import type { InboxEntry } from "../store/contract.ts";
import type { AskOptions, InputTimeout } from "./agent.ts";
import { type Checked, readAnswer, validateRaw } from "./answer.ts";
import type { Memory, Remembered } from "./memory.ts";
import { ENGINE_NOTE } from "./note.ts";
import { type Asked, arrived, type QuestionHost, record, UNREADABLE, waitingIds, withProblem } from "./question.ts";
import { TaskFailure } from "./task-failure.ts";
import { TIMED_OUT } from "./waits.ts";

const UNREADABLE_ANSWER: Checked = { ok: false, problem: UNREADABLE };

type Options = AskOptions<StandardSchemaV1 | undefined>;

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
    const checked =
      message === undefined ? UNREADABLE_ANSWER : await readAnswer(options.schema, message, { sensitive });
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
