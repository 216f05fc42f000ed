import type { Clock, Timer } from "../../../internal/clock.ts";
import { authRequestOf } from "../../../protocol/auth-request-part.ts";
import { type InputRequest, namedRequests, requestsMetadata } from "../../../protocol/input-request.ts";
import type { Message } from "../../../protocol/message.ts";
import type { Part } from "../../../protocol/part.ts";
import { isInterrupted } from "../../../protocol/state.ts";
import { toolUseOf } from "../../../protocol/tool-part.ts";
import type { InboxEntry } from "../../../store/contract.ts";
import { limitFailure } from "../../log/limit-failure.ts";
import { ENGINE_NOTE } from "../../log/note.ts";
import type { TaskLogWriter } from "../../log/task-log-writer.ts";
import type { InboxMessage } from "../../record/inbox-message.ts";
import { isNamed, isTooLate, type PendingQuestion, withAnswered } from "../../record/runner-record.ts";

/** An open question of this attempt. */
export interface Question {
  /** The request id, by which answers name the question. The same in every attempt while the question is open. */
  readonly id: string;
  /** Other ids by which answers may name it: those of the tool uses and authorisation requests in its parts. */
  readonly aliases: readonly string[];
  /** `requireAuth` asks it. */
  readonly auth: boolean;
  /** Its parts in the status message. */
  readonly parts: readonly Part[];
  readonly prompt: string;
  /** The name that the agent's author gave it. */
  readonly name?: string;
  readonly sensitive: boolean;
  /** Inbox entries that were there when the question was asked. They answer it only if they name it. */
  readonly before: readonly string[];
}

export type QuestionContent = Omit<Question, "before">;

interface CloseOptions {
  /** The message to add to the history; `undefined`: it must not be kept. */
  readonly message?: Message | undefined;
  /** What the run does next. `fail`: it may end the task, so a status is needed only if another question is open. */
  readonly next?: "continue" | "ask again" | "fail";
}

/** The run that asks. */
export interface AskingRun {
  readonly writer: TaskLogWriter;
  readonly clock: Clock;
  /** `undefined`: the entry is sealed with a secret that is not known any more. */
  readEntry(entry: InboxEntry): InboxMessage | undefined;
}

/** What is known of messages that arrived. Created with the first one, so that a run that waits keeps little. */
class AnswersInProgress {
  /** By request id: the inbox entry that is being read as the answer. */
  readonly claims = new Map<string, InboxEntry>();
  /** Entries that answered one question and also name another open one, so that they are not consumed yet; with the message for the history. */
  readonly partlyRead = new Map<InboxEntry, Message | undefined>();
  readonly targets = new WeakMap<InboxEntry, EntryTargets>();
}

/** Which questions an inbox entry answers. */
interface EntryTargets {
  /** The request ids that the message names. */
  readonly names: readonly string[];
  /** For a message that names none: the request ids that were decided when it was accepted. `undefined`: not known. */
  readonly answers: readonly string[] | undefined;
}

/** Limited, because every status shows all open questions. */
const MAX_OPEN = 100;
const MAX_ALIASES = 100;
const MAX_STORED_PROMPT = 200;
/** Characters of a question's name that are stored and sent to callers. */
const MAX_NAME = 100;
/** Output makes a task `working` and so hides its questions. After this many milliseconds without output they are shown again. */
const SHOW_AGAIN_AFTER = 1000;
const SEPARATOR: Part = { text: "\n" };

/**
 * The questions of a run that wait for an answer. It decides which question an inbox entry answers, and writes the status that shows the
 * questions. The runner record of the task lists them too, so that every node knows which request ids are open.
 */
export class OpenQuestions {
  readonly #run: AskingRun;
  readonly #asked = new Map<string, Question>();
  #answers: AnswersInProgress | undefined;
  #showing: Promise<void> | undefined;
  #timer: Timer | undefined;

  constructor(run: AskingRun) {
    this.#run = run;
  }

  /** Adds a question and writes the status that shows it. Questions that are asked in the same tick share one status. Throws a `TaskFailure` over a limit. */
  async open(question: Question): Promise<void> {
    const open = this.#openQuestions;
    if (open.length >= MAX_OPEN)
      throw limitFailure("too-many-questions", `a task may have at most ${MAX_OPEN} open questions`);
    this.#asked.set(question.id, question);
    this.#setOpen([...open, pendingOf(question)]);
    try {
      await this.#showInNextTick();
    } catch (error) {
      this.#asked.delete(question.id);
      if (this.#run.writer.loss === undefined)
        this.#setOpen(this.#openQuestions.filter(({ id }) => id !== question.id));
      throw error;
    }
  }

  /** Continues with a question that an earlier attempt asked. `undefined`: it is not open any more. */
  reopen(question: QuestionContent): Question | undefined {
    const listed = this.#openQuestions.find(({ id }) => id === question.id);
    if (listed === undefined) return undefined;
    const reopened: Question = { ...question, before: listed.before ?? [] };
    this.#asked.set(reopened.id, reopened);
    if (!isInterrupted(this.#run.writer.state)) this.showAgainSoon();
    return reopened;
  }

  /** Finds the inbox entry that answers the question, and reserves it for the question. */
  claim(question: Question): InboxEntry | undefined {
    const { inbox } = this.#run.writer;
    const entry = inbox.find((waiting) => waiting.kind === "message" && this.#isAnsweredBy(waiting, question));
    if (entry !== undefined) this.#inProgress().claims.set(question.id, entry);
    return entry;
  }

  /** Whether an entry answers an open or a closed question, so that `task.next()` must not read it. */
  isAnswer(entry: InboxEntry): boolean {
    const { questions } = this.#run.writer.runner;
    if (questions === undefined) return false;
    const listed = questions.open;
    const names = this.#namesIn(entry);
    if (isTooLate(names, questions)) return true;
    if (names.length > 0) return listed.some((pending) => names.some((name) => isNamed(pending, name)));
    if (this.#isClaimed(entry)) return true;
    return listed.some((pending) => {
      const { id, before = [] } = this.#asked.get(pending.id) ?? pending;
      return this.#answers?.claims.has(id) !== true && this.#mayAnswer(entry, { id, before });
    });
  }

  /**
   * Closes a question: consumes its entry, unless that also names another open question, and writes the status with the questions that are
   * still open. Returns whether the entry was consumed.
   */
  close({ id, aliases }: Question, { message, next = "continue" }: CloseOptions = {}): boolean {
    const { writer } = this.#run;
    const { claims, partlyRead } = this.#inProgress();
    const entry = claims.get(id);
    claims.delete(id);
    this.#asked.delete(id);
    this.#setOpen(
      this.#openQuestions.filter((pending) => pending.id !== id),
      [id, ...aliases],
    );
    if (entry !== undefined) partlyRead.set(entry, message);
    for (const [read, readMessage] of partlyRead) {
      const names = this.#namesIn(read);
      if (this.#openQuestions.some((pending) => names.some((name) => isNamed(pending, name)))) continue;
      partlyRead.delete(read);
      writer.consume(read, readMessage);
    }
    this.consumeLate();
    if (next === "continue" || (next === "fail" && this.#openQuestions.length > 0)) this.#show();
    else if (next === "ask again" && isInterrupted(writer.state)) writer.status("working", { note: ENGINE_NOTE });
    return entry !== undefined && !partlyRead.has(entry);
  }

  /** Consumes answers to questions that another answer has closed since: no call would ever read them. */
  consumeLate(): void {
    const { writer } = this.#run;
    const { questions } = writer.runner;
    if (questions === undefined || questions.answered.length === 0) return;
    for (const entry of writer.inbox.filter(({ kind }) => kind === "message")) {
      if (this.#isClaimed(entry) || !isTooLate(this.#namesIn(entry), questions)) continue;
      writer.consume(entry, entry.sealed ? undefined : this.#run.readEntry(entry)?.message);
    }
  }

  /** Output made the task `working`: shows the open questions again after 1 s without output. */
  showAgainSoon(): void {
    if (this.#timer !== undefined) return;
    const { writer, clock } = this.#run;
    const { seq } = writer;
    const show = (): void => {
      this.#timer = undefined;
      if (writer.loss !== undefined || writer.ended || isInterrupted(writer.state)) return;
      if (writer.seq === seq) this.#show();
      else this.showAgainSoon();
    };
    this.#timer = clock.setTimer(clock.now() + SHOW_AGAIN_AFTER, show, { unref: true });
  }

  /** The run has returned or has lost its task. */
  stop(): void {
    this.#timer?.cancel();
  }

  #inProgress(): AnswersInProgress {
    this.#answers ??= new AnswersInProgress();
    return this.#answers;
  }

  get #openQuestions(): readonly PendingQuestion[] {
    return this.#run.writer.runner.questions?.open ?? [];
  }

  #setOpen(open: readonly PendingQuestion[], closed: readonly string[] = []): void {
    const { writer } = this.#run;
    const answered = writer.runner.questions?.answered ?? [];
    writer.updateHead({ runner: { questions: { open, answered: withAnswered(answered, closed) } } });
  }

  #isAnsweredBy(entry: InboxEntry, question: Question): boolean {
    const names = this.#namesIn(entry);
    if (names.length > 0) return names.some((name) => isNamed(question, name));
    return this.#mayAnswer(entry, question) && !this.#isClaimed(entry);
  }

  /** Whether an entry that names no question may answer this one. For entries of earlier releases, which do not say it, the time of arrival decides. */
  #mayAnswer(entry: InboxEntry, { id, before }: Pick<Question, "id" | "before">): boolean {
    return this.#targetsOf(entry).answers?.includes(id) ?? !before.includes(entry.id);
  }

  #isClaimed(entry: InboxEntry): boolean {
    if (this.#answers === undefined) return false;
    for (const claimed of this.#answers.claims.values()) if (claimed === entry) return true;
    return false;
  }

  #namesIn(entry: InboxEntry): readonly string[] {
    return this.#targetsOf(entry).names;
  }

  #targetsOf(entry: InboxEntry): EntryTargets {
    const known = this.#inProgress().targets;
    let targets = known.get(entry);
    if (targets === undefined) {
      const read = this.#run.readEntry(entry);
      const names = read === undefined ? [] : namedRequests(read.message).map(({ id }) => id);
      targets = { names, answers: read?.answers };
      known.set(entry, targets);
    }
    return targets;
  }

  #showInNextTick(): Promise<void> {
    this.#showing ??= Promise.resolve().then(() => {
      this.#showing = undefined;
      this.#show();
    });
    return this.#showing;
  }

  /** Writes the status with all questions that have no answer; `working` if there are none. */
  #show(): void {
    const { writer } = this.#run;
    const open = this.#openQuestions.filter(({ id }) => this.#answers?.claims.has(id) !== true);
    if (open.length === 0) {
      if (isInterrupted(writer.state)) writer.status("working", { note: ENGINE_NOTE });
      return;
    }
    const requests = open.map((pending) => requestOf(pending, this.#asked.get(pending.id)));
    const metadata = requestsMetadata(requests);
    writer.status(open.every(({ auth }) => auth === true) ? "auth-required" : "input-required", {
      parts: open.flatMap(({ id, prompt }, index) => {
        const parts = this.#asked.get(id)?.parts ?? [{ text: prompt }];
        return index === 0 ? parts : [SEPARATOR, ...parts];
      }),
      note: ENGINE_NOTE,
      ...(Object.keys(metadata).length > 0 && { messageMetadata: metadata }),
    });
  }
}

/** The ids of tool uses and authorisation requests in the parts of a question, as in a question that is relayed from another agent. */
export function aliasesIn(parts: readonly Part[]): readonly string[] {
  const ids = parts.flatMap((part) => toolUseOf(part)?.toolUseId ?? authRequestOf(part)?.requestId ?? []);
  return ids.slice(0, MAX_ALIASES);
}

function pendingOf({ id, aliases, parts, prompt, name, auth, sensitive, before }: Question): PendingQuestion {
  return {
    id,
    ...(aliases.length > 0 && { aliases }),
    prompt: prompt.slice(0, MAX_STORED_PROMPT),
    ...(name !== undefined && { name: name.slice(0, MAX_NAME) }),
    ...(auth && { auth }),
    ...(sensitive && { sensitive }),
    ...(!auth && aliasesIn(parts).length > 0 && { approval: true }),
    ...(before.length > 0 && { before }),
  };
}

function requestOf({ id, prompt, name, auth, sensitive }: PendingQuestion, asked: Question | undefined): InputRequest {
  return {
    kind: auth === true ? "auth-request" : "input-request",
    prompt: asked?.prompt ?? prompt,
    requestId: id,
    ...(name !== undefined && { name }),
    ...(sensitive === true && { sensitive }),
  };
}
