import { createSecretBox, openSecret, type SecretBox } from "../../../auth/secret-box.ts";
import { isoTime } from "../../../internal/iso-time.ts";
import { uuidv7 } from "../../../internal/uuid.ts";
import { authRequestPart, jweIn } from "../../../protocol/auth-request-part.ts";
import { inputSchemaOf, inputSchemaPart } from "../../../protocol/input-request.ts";
import type { Message } from "../../../protocol/message.ts";
import { type Part, textOf } from "../../../protocol/part.ts";
import { publicTaskId } from "../../../protocol/task-key.ts";
import { toolResultOf } from "../../../protocol/tool-part.ts";
import type { InboxEntry } from "../../../store/contract.ts";
import type { AuthOptions } from "../../agent/agent.ts";
import { TaskFailure } from "../../agent/task-failure.ts";
import type { QuestionHost } from "../context-host.ts";
import type { Remembered } from "../memory.ts";
import { TIMED_OUT } from "../waits.ts";
import { answerFor, readAnswer } from "./answer.ts";
import { aliasesIn, type Question, type QuestionContent } from "./open-questions.ts";
import { type Asked, openQuestion, UNREADABLE, waitingIds, withProblem } from "./question.ts";

/** The options of a call of `requireAuth`, with its message as parts. */
export interface AuthNeed extends AuthOptions {
  readonly explanation: readonly Part[];
  /** Add a part that describes the request for programs. */
  readonly described: boolean;
  /** It is a question of a called agent, not an authorisation: the task is `input-required`. */
  readonly input?: boolean;
  /** The answer is stored encrypted only. */
  readonly sensitive?: boolean;
}

/** A request that is shown to callers. */
interface Open {
  readonly asked: Asked;
  readonly question: Question;
  readonly box: SecretBox["privateKey"] | undefined;
}

/** The outcome of the agent's own wait for the authorisation (`until`). */
type OutsideResult = { readonly authorised: true } | { readonly authorised: false; readonly error: unknown };

/**
 * Asks the caller for an authorisation. Waits for a message, or for the agent's own function `until`, which finds out outside of the protocol that
 * the authorisation was given. Resolves with the message; with the secret, if one is requested; with `undefined` after `until`. After a restart
 * it continues where it was. Throws a `TaskFailure` (`auth-timeout`) after the timeout.
 */
export async function requireAuth(host: QuestionHost, need: AuthNeed): Promise<Message | string | undefined> {
  const { memory, writer, waits, questions } = host;
  const key = memory.key("auth", need.name ?? textOf(need.explanation));
  const known = memory.recall(key);
  if (known?.kind === "nothing") return undefined;
  const stored = recallAnswer(host, known);
  if (stored !== undefined) return stored;
  const outside = new OutsideWait(host, need.until);
  let open = known?.kind === "asked" ? reopen(host, need, known) : undefined;
  let problem: string | undefined;
  for (;;) {
    open ??= await request(host, need, { key, problem });
    const result = await outside.orMessage(open);
    host.requireOpen();
    if (result === TIMED_OUT) {
      host.run.observer.closed("question", key, "timed-out");
      throw timedOut(host, need, open.question);
    }
    if ("authorised" in result) return outsideAnswer(host, result, { key, question: open.question });
    const answer = await readMessageAnswer(host, result, { need, open });
    host.requireOpen();
    const isSecret = need.secret === true || result.sealed;
    // Not earlier: messages that arrive while the answer is being read must be sealed too.
    waits.resume();
    const isConsumed = questions.close(open.question, {
      message: isSecret ? undefined : answer.message,
      next: answer.ok ? "continue" : "ask again",
    });
    if (answer.ok) {
      host.run.observer.closed("question", key, "answered");
      memory.remember(key, rememberedOf(host, answer, result.sealed));
      if (isConsumed && !isSecret && answer.message !== undefined) host.turn.history.push(answer.message);
      await writer.flush();
      return answer.value;
    }
    problem = answer.problem;
    open = undefined;
  }
}

/** The answer that an earlier attempt received. `undefined`: none, or it was sealed with a secret that is not known any more. */
function recallAnswer({ memory, turn }: QuestionHost, known: Remembered | undefined): Message | string | undefined {
  if (known?.kind === "sealed") {
    const secret = memory.openAnswer(known.sealed);
    return typeof secret === "string" ? secret : undefined;
  }
  const message = known?.kind === "message" ? memory.openMessage(known) : undefined;
  if (message !== undefined && known?.kind === "message" && known.sealed !== true) turn.history.push(message);
  return message;
}

/** Continues with a request that an earlier attempt made. `undefined`: it is not open any more. */
function reopen({ memory, questions, waits }: QuestionHost, need: AuthNeed, asked: Asked): Open | undefined {
  const box = asked.box === undefined ? undefined : memory.openAnswer(asked.box);
  // Safe: it is what `request` sealed. If it cannot be opened any more, the caller is asked again for an answer that was encrypted with it.
  const privateKey = box as SecretBox["privateKey"] | undefined;
  const { d: _secret, ...publicKey } = privateKey ?? {};
  const shown: Shown = {
    until: asked.until,
    publicKey: privateKey === undefined ? undefined : (publicKey as SecretBox["publicKey"]),
    problem: undefined,
  };
  const question = questions.reopen(questionOf(asked.id, need, shown));
  if (question === undefined) return undefined;
  waits.pause(asked.until, { active: need.until !== undefined });
  return { asked, question, box: privateKey };
}

async function request(
  host: QuestionHost,
  need: AuthNeed,
  { key, problem }: { readonly key: string; readonly problem: string | undefined },
): Promise<Open> {
  const { writer, memory, run } = host;
  const { secret = false, timeout } = need;
  const box = secret ? await createSecretBox() : undefined;
  if (!writer.isStored) await writer.flush();
  host.requireOpen();
  const until = timeout === undefined ? undefined : run.now() + timeout;
  const question: Question = {
    ...questionOf(uuidv7(), need, { until, publicKey: box?.publicKey, problem }),
    before: waitingIds(writer),
  };
  const sealed = box === undefined ? undefined : memory.seal(box.privateKey);
  const asked = await openQuestion(host, question, { key, until, active: need.until !== undefined, box: sealed });
  return { asked, question, box: box?.privateKey };
}

interface Shown {
  readonly until: number | undefined;
  readonly publicKey: SecretBox["publicKey"] | undefined;
  readonly problem: string | undefined;
}

function questionOf(id: string, need: AuthNeed, shown: Shown): QuestionContent {
  const { explanation, secret = false, input = false, sensitive = secret } = need;
  const asked = input ? explanation.map((part) => renamedSchema(part, id)) : explanation;
  const parts = [...withProblem(asked, shown.problem), ...described(id, need, shown)];
  return { id, aliases: aliasesIn(explanation), auth: !input, parts, prompt: textOf(explanation), sensitive };
}

/** The schema of a forwarded question names the question that is shown here. */
function renamedSchema(part: Part, requestId: string): Part {
  const asked = inputSchemaOf(part);
  return asked === undefined ? part : inputSchemaPart({ requestId, schema: asked.schema });
}

function described(
  requestId: string,
  { described: isDescribed, schemes, description, secret }: AuthNeed,
  { publicKey, until }: Shown,
): readonly Part[] {
  if (!isDescribed) return [];
  return [
    authRequestPart({
      requestId,
      ...(schemes !== undefined && { schemes }),
      ...(description !== undefined && { description }),
      ...(secret === true && { secret }),
      ...(publicKey !== undefined && { key: publicKey }),
      ...(until !== undefined && { expiresAt: isoTime(until) }),
    }),
  ];
}

type AuthAnswer =
  | { readonly ok: true; readonly value: Message | string; readonly message: Message | undefined }
  | { readonly ok: false; readonly problem: string; readonly message?: undefined };

/** Reads the answer in a message. The problem of an invalid one does not contain its content. */
async function readMessageAnswer(
  { run }: QuestionHost,
  entry: InboxEntry,
  { need, open: { question, box } }: { readonly need: AuthNeed; readonly open: Open },
): Promise<AuthAnswer> {
  const message = run.openEntry(entry);
  if (message === undefined) return { ok: false, problem: UNREADABLE };
  const answer = answerFor(message, question);
  if (need.secret !== true) return { ok: true, value: answer, message };
  const jwe = jweIn(answer.parts) ?? jweIn(resultsIn(answer.parts));
  if (jwe !== undefined) {
    const secret = box === undefined ? undefined : await openSecret({ privateKey: box }, jwe);
    if (secret === undefined)
      return {
        ok: false,
        problem: "It could not be decrypted; please encrypt it with the public key of this request.",
      };
    return { ok: true, value: secret, message };
  }
  const plain = await readAnswer(undefined, answer, { sensitive: true });
  if (!plain.ok || typeof plain.raw !== "string" || plain.raw === "") return { ok: false, problem: "It is empty." };
  return { ok: true, value: plain.raw, message };
}

/** The results of tools, as data parts. */
function resultsIn(parts: readonly Part[]): readonly Part[] {
  return parts.flatMap((part) => {
    const used = toolResultOf(part);
    return used === undefined ? [] : [{ data: used.result }];
  });
}

function rememberedOf(
  { memory }: QuestionHost,
  { value }: AuthAnswer & { readonly ok: true },
  sealed: boolean,
): Remembered {
  return typeof value === "string" ? memory.sealedAnswer(value) : memory.messageRecord(value, sealed);
}

async function outsideAnswer(
  host: QuestionHost,
  result: OutsideResult,
  { key, question }: { readonly key: string; readonly question: Question },
): Promise<undefined> {
  const { writer, memory, waits, questions } = host;
  host.run.observer.closed("question", key, result.authorised ? "answered" : "failed");
  waits.resume();
  questions.close(question);
  if (!result.authorised) throw result.error;
  memory.remember(key, { kind: "nothing" });
  await writer.flush();
  return undefined;
}

function timedOut(
  { writer, waits, questions }: QuestionHost,
  { timeout = 0 }: AuthNeed,
  question: Question,
): TaskFailure {
  waits.resume();
  questions.close(question, { next: "fail" });
  return new TaskFailure("Authorization timeout", {
    code: "auth-timeout",
    data: { taskId: publicTaskId(writer.ref.id), timeoutSeconds: timeout / 1000 },
  });
}

/** Runs the agent's function `until`, once callers can see the request. */
class OutsideWait {
  readonly #host: QuestionHost;
  readonly #until: AuthOptions["until"];
  #isRunning = false;
  #result: OutsideResult | undefined;

  constructor(host: QuestionHost, until: AuthOptions["until"]) {
    this.#host = host;
    this.#until = until;
  }

  /** Waits for the result of `until`, or for a message, whichever comes first. */
  orMessage({ asked, question }: Open): Promise<InboxEntry | OutsideResult | typeof TIMED_OUT> {
    const { waits, questions } = this.#host;
    const poll = (): InboxEntry | OutsideResult | undefined => questions.claim(question) ?? this.#result;
    const waiting = waits.wait({ poll, until: asked.until, pauses: true, parks: this.#until === undefined });
    this.#run();
    return waiting;
  }

  #run(): void {
    const until = this.#until;
    if (this.#isRunning || until === undefined) return;
    this.#isRunning = true;
    const running = async (): Promise<unknown> => until(this.#host.run.signal);
    const settle = (result: OutsideResult): void => {
      this.#result = result;
      this.#host.waits.poll();
    };
    running().then(
      () => settle({ authorised: true }),
      (error: unknown) => settle({ authorised: false, error }),
    );
  }
}
