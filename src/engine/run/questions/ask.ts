import type { StandardSchemaV1 } from "@standard-schema/spec";
import { uuidv7 } from "../../../internal/uuid.ts";
import { inputSchemaPart } from "../../../protocol/input-request.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import { type Part, textOf } from "../../../protocol/part.ts";
import { publicTaskId } from "../../../protocol/task-key.ts";
import { toolUsePart } from "../../../protocol/tool-part.ts";
import type { InboxEntry } from "../../../store/contract.ts";
import type { AskOptions, InputTimeout } from "../../agent/agent.ts";
import { jsonSchemaOf } from "../../agent/json-schema.ts";
import { TaskFailure } from "../../agent/task-failure.ts";
import type { QuestionHost } from "../context-host.ts";
import type { Memory, Remembered } from "../memory.ts";
import { TIMED_OUT } from "../waits.ts";
import { answerFor, type Checked, readAnswer, validateRaw } from "./answer.ts";
import { aliasesIn, type Question, type QuestionContent } from "./open-questions.ts";
import { type Asked, openQuestion, UNREADABLE, waitingIds, withProblem } from "./question.ts";

const UNREADABLE_ANSWER: Checked = { ok: false, problem: UNREADABLE };

type Options = AskOptions<StandardSchemaV1 | undefined>;

/**
 * Asks a question and waits for a valid answer. After an invalid answer it asks again, with the problem. After a restart it continues where it
 * was: it returns the stored answer, or waits for the question that is open. Throws a `TaskFailure` (`input-timeout`) after the timeout.
 */
export async function askCaller(host: QuestionHost, question: readonly Part[], options: Options): Promise<unknown> {
  const { memory, writer, waits, questions } = host;
  const key = memory.key("ask", options.name ?? textOf(question));
  const known = memory.recall(key);
  if (known?.kind === "unanswered") return undefined;
  const settled = await recallAnswer(memory, known, options.schema);
  if (settled?.ok === true) {
    recallMessage(host, known);
    return settled.value;
  }

  const timeout = timeoutOf(options, host.run.inputTimeout);
  const isSensitive = options.sensitive === true;
  const asking: Asking = {
    key,
    parts: question,
    timeout,
    sensitive: isSensitive,
    tool: options.tool,
    name: options.name,
    schema: jsonSchemaOf(options.schema, options.jsonSchema),
  };
  // A question that is still open is not asked twice.
  let open = known?.kind === "asked" ? reopen(host, known, asking) : undefined;
  for (;;) {
    open ??= await ask(host, asking);
    const entry = await answerTo(host, open);
    host.requireOpen();
    if (entry === TIMED_OUT) return unanswered(host, { key, timeout, question: open.question });
    const message = host.run.openEntry(entry);
    const sensitive = isSensitive || entry.sealed;
    const checked =
      message === undefined
        ? UNREADABLE_ANSWER
        : await readAnswer(options.schema, answerFor(message, open.question), { sensitive });
    host.requireOpen();
    waits.resume();
    const isConsumed = questions.close(open.question, {
      message: sensitive ? undefined : message,
      next: checked.ok ? "continue" : "ask again",
    });
    if (isConsumed && !sensitive && message !== undefined) host.turn.history.push(message);
    if (checked.ok) {
      host.run.observer.closed("question", key, "answered");
      memory.remember(
        key,
        sensitive
          ? memory.sealedAnswer(checked.raw)
          : { kind: "answered", raw: checked.raw, ...(isConsumed && { inbox: entry.id }) },
      );
      await writer.flush();
      return checked.value;
    }
    asking.parts = withProblem(question, checked.problem);
    open = undefined;
  }
}

interface Asking {
  readonly key: string;
  parts: readonly Part[];
  readonly timeout: InputTimeout | undefined;
  readonly sensitive: boolean;
  readonly tool: Options["tool"];
  readonly name: string | undefined;
  readonly schema: JsonObject | undefined;
}

/** A question that is shown to callers. */
interface Open {
  readonly asked: Asked;
  readonly question: Question;
}

function questionOf(id: string, { parts, sensitive, tool, name, schema }: Asking): QuestionContent {
  const shown = [
    ...parts,
    ...(tool === undefined ? [] : [toolUsePart({ toolUseId: id, ...tool })]),
    ...(schema === undefined ? [] : [inputSchemaPart({ requestId: id, schema })]),
  ];
  const named = name === undefined ? {} : { name };
  return { id, aliases: aliasesIn(parts), auth: false, parts: shown, prompt: textOf(parts), sensitive, ...named };
}

function reopen({ questions, waits }: QuestionHost, asked: Asked, asking: Asking): Open | undefined {
  const question = questions.reopen(questionOf(asked.id, asking));
  if (question === undefined) return undefined;
  waits.pause(asked.until);
  return { asked, question };
}

async function ask(host: QuestionHost, asking: Asking): Promise<Open> {
  const { writer, run } = host;
  if (!writer.isStored) await writer.flush();
  host.requireOpen();
  const question: Question = { ...questionOf(uuidv7(), asking), before: waitingIds(writer) };
  const until = asking.timeout === undefined ? undefined : run.now() + asking.timeout.ms;
  return { question, asked: await openQuestion(host, question, { key: asking.key, until }) };
}

function answerTo(
  { waits, questions }: QuestionHost,
  { asked, question }: Open,
): Promise<InboxEntry | typeof TIMED_OUT> {
  return waits.wait({ poll: () => questions.claim(question), until: asked.until, pauses: true, parks: true });
}

interface Unanswered {
  readonly key: string;
  readonly timeout: InputTimeout | undefined;
  readonly question: Question;
}

async function unanswered(host: QuestionHost, { key, timeout, question }: Unanswered): Promise<undefined> {
  const { memory, writer, waits, questions } = host;
  host.run.observer.closed("question", key, "timed-out");
  waits.resume();
  if (timeout?.then !== "continue") {
    questions.close(question, { next: "fail" });
    const timeoutSeconds = (timeout?.ms ?? 0) / 1000;
    throw new TaskFailure("Input timeout", {
      code: "input-timeout",
      data: { taskId: publicTaskId(writer.ref.id), timeoutSeconds },
    });
  }
  questions.close(question);
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

/** Adds an answer that an earlier attempt consumed to the history. */
function recallMessage({ turn }: QuestionHost, known: Remembered | undefined): void {
  const message = known?.kind === "answered" && known.inbox !== undefined ? turn.consumed.get(known.inbox) : undefined;
  if (message !== undefined) turn.history.push(message);
}

function timeoutOf(options: Options, agentWide: InputTimeout | undefined): InputTimeout | undefined {
  const ms = options.timeout ?? agentWide?.ms;
  return ms === undefined ? undefined : { ms, then: options.onTimeout ?? agentWide?.then ?? "fail" };
}
