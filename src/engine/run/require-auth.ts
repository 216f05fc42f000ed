import { createSecretBox, openSecret, type SecretBox } from "../../auth/secret-box.ts";
import { isoTime } from "../../internal/iso-time.ts";
import { uuidv7 } from "../../internal/uuid.ts";
import { authRequestPart, jweIn } from "../../protocol/auth-request-part.ts";
import type { Message } from "../../protocol/message.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import { toolResultOf } from "../../protocol/tool-part.ts";
import type { InboxEntry } from "../../store/contract.ts";
import type { AuthOptions } from "../agent/agent.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import { answerFor, readAnswer } from "./answer.ts";
import type { QuestionHost } from "./context-host.ts";
import type { Remembered } from "./memory.ts";
import { aliasesIn, type Question, type QuestionContent } from "./open-questions.ts";
import { type Asked, openQuestion, UNREADABLE, waitingIds, withProblem } from "./question.ts";
import { TIMED_OUT } from "./waits.ts";

export interface AuthNeed extends AuthOptions {
  readonly explanation: readonly Part[];
  /** Say for programs, too, what is needed. */
  readonly described: boolean;
}

/** A need that callers can see. */
interface Open {
  readonly asked: Asked;
  readonly question: Question;
  readonly box: SecretBox["privateKey"] | undefined;
}

/** What became of the author's own wait for the authorisation. */
type OutsideSign = { readonly authorised: true } | { readonly authorised: false; readonly error: unknown };

/**
 * Says what must be authorised and waits for a message, or for the author's own sign that it has happened. Resolves with the message, or
 * with the secret where one is wanted; with nothing after a sign from outside. After a restart it goes on where it was.
 */
export async function requireAuth(host: QuestionHost, need: AuthNeed): Promise<Message | string | undefined> {
  const { memory, writer, waits, questions } = host;
  const key = memory.key("auth", need.name ?? textOf(need.explanation));
  const known = memory.recall(key);
  if (known?.kind === "nothing") return undefined;
  const given = recallGiven(host, known);
  if (given !== undefined) return given;
  const outside = new Outside(host, need.until);
  let open = known?.kind === "asked" ? reopen(host, need, known) : undefined;
  let problem: string | undefined;
  for (;;) {
    open ??= await demand(host, need, { key, problem });
    const sign = await outside.orMessage(open);
    host.requireOpen();
    if (sign === TIMED_OUT) throw timedOut(host, need, open.question);
    if ("authorised" in sign) return outsideAnswer(host, sign, { key, question: open.question });
    const answer = await readGiven(host, sign, { need, open });
    host.requireOpen();
    const isSecret = need.secret === true || sign.sealed;
    // Not before: whatever comes in while the answer is being read is sealed as well.
    waits.resume();
    const isTaken = questions.close(open.question, {
      keep: isSecret ? undefined : answer.message,
      next: answer.ok ? "go on" : "ask again",
    });
    if (answer.ok) {
      memory.remember(key, rememberedOf(host, answer, sign.sealed));
      if (isTaken && !isSecret && answer.message !== undefined) host.history.push(answer.message);
      await writer.flush();
      return answer.given;
    }
    problem = answer.problem;
    open = undefined;
  }
}

/** What came in an earlier attempt. `undefined`: nothing, or it cannot be opened any more. */
function recallGiven({ memory, history }: QuestionHost, known: Remembered | undefined): Message | string | undefined {
  if (known?.kind === "sealed") {
    const secret = memory.openAnswer(known.sealed);
    return typeof secret === "string" ? secret : undefined;
  }
  const message = known?.kind === "message" ? memory.openMessage(known) : undefined;
  if (message !== undefined && known?.kind === "message" && known.sealed !== true) history.push(message);
  return message;
}

/** The need that an earlier attempt has made known, while it is open. */
function reopen({ memory, questions, waits }: QuestionHost, need: AuthNeed, asked: Asked): Open | undefined {
  const box = asked.box === undefined ? undefined : memory.openAnswer(asked.box);
  // Safe: it is what `demand` has sealed. Where it cannot be opened any more, an answer encrypted to it is asked for again.
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

async function demand(
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
  const { explanation, secret = false } = need;
  const parts = [...withProblem(explanation, shown.problem), ...described(id, need, shown)];
  return { id, aliases: aliasesIn(explanation), auth: true, parts, prompt: textOf(explanation), sensitive: secret };
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

type Given =
  | { readonly ok: true; readonly given: Message | string; readonly message: Message | undefined }
  | { readonly ok: false; readonly problem: string; readonly message?: undefined };

/** What a message brings. Where it is no answer, the problem says nothing of what it holds. */
async function readGiven(
  { run }: QuestionHost,
  entry: InboxEntry,
  { need, open: { question, box } }: { readonly need: AuthNeed; readonly open: Open },
): Promise<Given> {
  const message = run.openEntry(entry);
  if (message === undefined) return { ok: false, problem: UNREADABLE };
  const answer = answerFor(message, question);
  if (need.secret !== true) return { ok: true, given: answer, message };
  const jwe = jweIn(answer.parts) ?? jweIn(resultsIn(answer.parts));
  if (jwe !== undefined) {
    const secret = box === undefined ? undefined : await openSecret({ privateKey: box }, jwe);
    if (secret === undefined)
      return { ok: false, problem: "It could not be decrypted; please encrypt it to the key that is given here." };
    return { ok: true, given: secret, message };
  }
  const plain = await readAnswer(undefined, answer, { sensitive: true });
  if (!plain.ok || typeof plain.raw !== "string" || plain.raw === "")
    return { ok: false, problem: "It holds nothing." };
  return { ok: true, given: plain.raw, message };
}

/** What tools gave, as data of their own. */
function resultsIn(parts: readonly Part[]): readonly Part[] {
  return parts.flatMap((part) => {
    const used = toolResultOf(part);
    return used === undefined ? [] : [{ data: used.result }];
  });
}

function rememberedOf({ memory }: QuestionHost, { given }: Given & { readonly ok: true }, sealed: boolean): Remembered {
  return typeof given === "string" ? memory.sealedAnswer(given) : memory.messageRecord(given, sealed);
}

async function outsideAnswer(
  host: QuestionHost,
  sign: OutsideSign,
  { key, question }: { readonly key: string; readonly question: Question },
): Promise<undefined> {
  const { writer, memory, waits, questions } = host;
  waits.resume();
  questions.close(question);
  if (!sign.authorised) throw sign.error;
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

/** The author's own way of learning that the authorisation was given; begun when callers can see what is needed. */
class Outside {
  readonly #host: QuestionHost;
  readonly #until: AuthOptions["until"];
  #isWatched = false;
  #sign: OutsideSign | undefined;

  constructor(host: QuestionHost, until: AuthOptions["until"]) {
    this.#host = host;
    this.#until = until;
  }

  /** Waits for the sign, or for a message, whichever comes first. */
  orMessage({ asked, question }: Open): Promise<InboxEntry | OutsideSign | typeof TIMED_OUT> {
    const { waits, questions } = this.#host;
    const poll = (): InboxEntry | OutsideSign | undefined => questions.claim(question) ?? this.#sign;
    const waiting = waits.wait({ poll, until: asked.until, pauses: true, parks: this.#until === undefined });
    this.#watch();
    return waiting;
  }

  #watch(): void {
    const until = this.#until;
    if (this.#isWatched || until === undefined) return;
    this.#isWatched = true;
    const watching = async (): Promise<unknown> => until(this.#host.run.signal);
    const give = (sign: OutsideSign): void => {
      this.#sign = sign;
      this.#host.waits.poll();
    };
    watching().then(
      () => give({ authorised: true }),
      (error: unknown) => give({ authorised: false, error }),
    );
  }
}
