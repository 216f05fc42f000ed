import { createSecretBox, openSecret, type SecretBox } from "../auth/secret-box.ts";
import { isoTime } from "../internal/iso-time.ts";
import { uuidv7 } from "../internal/uuid.ts";
import { authRequestPart, jweIn } from "../protocol/auth-request-part.ts";
import type { Message } from "../protocol/message.ts";
import { type Part, textOf } from "../protocol/part.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { InboxEntry } from "../store/contract.ts";
import type { AuthOptions } from "./agent.ts";
import { readAnswer } from "./answer.ts";
import type { Remembered } from "./memory.ts";
import { ENGINE_NOTE } from "./note.ts";
import { type Asked, arrived, type QuestionHost, record, UNREADABLE, waitingIds, withProblem } from "./question.ts";
import { TaskFailure } from "./task-failure.ts";
import { TIMED_OUT } from "./waits.ts";

export interface AuthNeed extends AuthOptions {
  readonly explanation: readonly Part[];
  /** Say for programs, too, what is needed. */
  readonly described: boolean;
}

/** A need that callers can see. */
interface Open {
  readonly asked: Asked;
  readonly box: SecretBox["privateKey"] | undefined;
}

/** What became of the author's own wait for the authorisation. */
type OutsideSign = { readonly authorised: true } | { readonly authorised: false; readonly error: unknown };

/**
 * Says what must be authorised and waits for a message, or for the author's own sign that it has happened. Resolves with the message, or
 * with the secret where one is wanted; with nothing after a sign from outside. After a restart it goes on where it was.
 */
export async function requireAuth(host: QuestionHost, need: AuthNeed): Promise<Message | string | undefined> {
  const { memory, writer, waits } = host;
  const key = memory.key("auth", need.name ?? textOf(need.explanation));
  const known = memory.recall(key);
  if (known?.kind === "nothing") return undefined;
  const given = recallGiven(host, known);
  if (given !== undefined) return given;
  const outside = new Outside(host, need.until);
  let open = reopen(host, need, known);
  let problem: string | undefined;
  for (;;) {
    open ??= await demand(host, need, { key, problem });
    const sign = await outside.orMessage(open.asked);
    host.check();
    if (sign === TIMED_OUT) throw timedOut(host, need);
    if ("authorised" in sign) return outsideAnswer(host, key, sign);
    const answer = await readGiven(host, sign, { need, box: open.box });
    host.check();
    const isSecret = need.secret === true || sign.sealed;
    writer.take(sign, isSecret ? undefined : answer.message);
    // Not before: whatever comes in while the answer is being read is sealed as well.
    waits.resume();
    writer.status("working", { note: ENGINE_NOTE });
    if (answer.ok) {
      memory.remember(key, rememberedOf(host, answer, sign.sealed));
      if (!isSecret && answer.message !== undefined) host.history.push(answer.message);
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

/** The need that an earlier attempt has made known, while it is there to be seen. */
function reopen(
  { memory, writer, waits }: QuestionHost,
  need: AuthNeed,
  known: Remembered | undefined,
): Open | undefined {
  if (known?.kind !== "asked" || writer.state !== "auth-required") return undefined;
  if (need.secret === true) writer.keep({ runner: { sensitive: true } });
  waits.pause(known.until, { active: need.until !== undefined });
  const box = known.box === undefined ? undefined : memory.openAnswer(known.box);
  // Safe: it is what `demand` has sealed. Where it cannot be opened any more, an answer encrypted to it is asked for again.
  return { asked: known, box: box as SecretBox["privateKey"] | undefined };
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
  host.check();
  const until = timeout === undefined ? undefined : run.now() + timeout;
  writer.status("auth-required", {
    parts: [...withProblem(need.explanation, problem), ...described(need, box?.publicKey, until)],
    note: ENGINE_NOTE,
    // Tells whoever shows the need to mask what is typed.
    ...(secret && { messageMetadata: { sensitive: true } }),
  });
  if (secret) writer.keep({ runner: { sensitive: true } });
  const sealed = box === undefined ? undefined : memory.seal(box.privateKey);
  const asked = record(host, { key, until, active: need.until !== undefined, box: sealed });
  await writer.flush();
  // Messages that are there by now were sent before anybody could see what is needed.
  return { asked: { ...asked, before: waitingIds(writer) }, box: box?.privateKey };
}

function described(
  { described: isDescribed, schemes, description, secret }: AuthNeed,
  publicKey: SecretBox["publicKey"] | undefined,
  until: number | undefined,
): readonly Part[] {
  if (!isDescribed) return [];
  return [
    authRequestPart({
      requestId: uuidv7(),
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
  { need, box }: { readonly need: AuthNeed; readonly box: Open["box"] },
): Promise<Given> {
  const message = run.openEntry(entry);
  if (message === undefined) return { ok: false, problem: UNREADABLE };
  if (need.secret !== true) return { ok: true, given: message, message };
  const jwe = jweIn(message.parts);
  if (jwe !== undefined) {
    const secret = box === undefined ? undefined : await openSecret({ privateKey: box }, jwe);
    if (secret === undefined)
      return { ok: false, problem: "It could not be decrypted; please encrypt it to the key that is given here." };
    return { ok: true, given: secret, message };
  }
  const plain = await readAnswer(undefined, message, { sensitive: true });
  if (!plain.ok || typeof plain.raw !== "string" || plain.raw === "")
    return { ok: false, problem: "It holds nothing." };
  return { ok: true, given: plain.raw, message };
}

function rememberedOf({ memory }: QuestionHost, { given }: Given & { readonly ok: true }, sealed: boolean): Remembered {
  return typeof given === "string" ? memory.sealedAnswer(given) : memory.messageRecord(given, sealed);
}

async function outsideAnswer(host: QuestionHost, key: string, sign: OutsideSign): Promise<undefined> {
  const { writer, memory, waits } = host;
  waits.resume();
  writer.status("working", { note: ENGINE_NOTE });
  if (!sign.authorised) throw sign.error;
  memory.remember(key, { kind: "nothing" });
  await writer.flush();
  return undefined;
}

function timedOut({ writer }: QuestionHost, { timeout = 0 }: AuthNeed): TaskFailure {
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
  orMessage({ before, until }: Asked): Promise<InboxEntry | OutsideSign | typeof TIMED_OUT> {
    const { waits, writer } = this.#host;
    const poll = (): InboxEntry | OutsideSign | undefined => arrived(writer, before) ?? this.#sign;
    const waiting = waits.wait({ poll, until, pauses: true, parks: this.#until === undefined });
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
