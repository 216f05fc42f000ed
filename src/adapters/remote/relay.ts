import type { RemoteAgent, RemoteStreamEvent } from "../../client/api.ts";
import type { DigestRecord } from "../../client/follow/artifact-digests.ts";
import { TaskView } from "../../client/follow/task-view.ts";
import { RemoteError } from "../../client/http/errors.ts";
import { type Output, TaskAborted, type TaskContext } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { MessageId } from "../../protocol/ids.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import { mayResend, passOn, type Words } from "./pass-on.ts";
import { type ArtifactNames, RelayedArtifacts } from "./relayed-artifacts.ts";
import { isContextRefusal, remoteContextId } from "./remote-context.ts";
import { followAgain, isNews, whenChanged } from "./remote-events.ts";
import { remoteFailure } from "./remote-failure.ts";
import { remoteAnswer, remoteQuestion } from "./remote-question.ts";

type Bare = { readonly kind: "message"; readonly parts: readonly Part[] };

/** What the remote agent made of a message. */
type Taken = Bare | { readonly kind: "task"; readonly id: string; readonly contextId: string };

/** What a message belongs to over there. */
type Links = { readonly contextId?: string; readonly taskId?: string };

/** What is kept before a message is sent. `links` is absent in what earlier versions stored. */
type Begun = { readonly attempt: number; readonly at: number; readonly links?: Links };

/** What the remote agent made of a message, and what happens to it from then on. */
interface Submitted {
  readonly taken: Taken;
  readonly events: AsyncIterable<RemoteStreamEvent>;
}

/** How the remote task was left: ended, or asking something. */
interface Left {
  readonly kind: "task";
  /** Without artifacts, but where an earlier version stored it. */
  readonly task: Task;
  /** What its artifacts are known by as long as it goes on. */
  readonly digests?: DigestRecord;
  readonly names: ArtifactNames;
  readonly used: readonly string[];
  /** What was said to it meanwhile and what it would not take. */
  readonly refused: readonly Words[];
}

interface Round {
  readonly number: number;
  /** `undefined`: there is nothing to be said, the task goes on by itself. */
  readonly words: Words | undefined;
  readonly before: Left | undefined;
}

/** The remote task whose events are told here. */
interface RelayedTask {
  readonly id: string;
  readonly contextId: string;
  readonly before: Left | undefined;
  readonly artifacts: RelayedArtifacts;
}

/** Milliseconds that a canceled task waits to learn what it is to cancel over there, and for that to be done. */
const CANCEL_WITHIN = 10_000;

/**
 * One task here, and the one at the remote agent that does its work. What was sent, what became of it and how each round ended are
 * steps: an attempt after a restart goes on with the same remote task, and sends nothing twice.
 */
export class Relay {
  readonly #remote: RemoteAgent;
  readonly #task: TaskContext;
  /** Not the task's own signal: a cancel has to reach the remote agent before the connection goes. */
  readonly #connection = new AbortController();
  /** The remote task that is at work or waits: what a cancel is about. */
  #remoteId: string | undefined;
  #canceling: Promise<void> | undefined;
  #isOver = false;

  constructor(remote: RemoteAgent, task: TaskContext) {
    this.#remote = remote;
    this.#task = task;
  }

  async run(): Promise<Output | void> {
    const { signal } = this.#task;
    const stop = (): void => this.#stop();
    signal.addEventListener("abort", stop, { once: true });
    // Canceled while nobody was here: what is remembered tells what there is to cancel.
    if (signal.aborted) this.#stop();
    try {
      return await this.#rounds();
    } catch (thrown) {
      if (thrown instanceof RemoteError && !signal.aborted) throw this.#failure(thrown);
      throw thrown;
    } finally {
      signal.removeEventListener("abort", stop);
      this.#isOver = true;
      await this.#canceling;
      this.#connection.abort();
    }
  }

  async #rounds(): Promise<Output | void> {
    let words: Words | undefined = this.#task.message;
    let before: Left | undefined;
    const unsaid: Words[] = [];
    for (let number = 0; ; number++) {
      const left: Bare | Left = await this.#round({ number, words, before });
      if (left.kind === "message") return left.parts;
      unsaid.push(...left.refused);
      const { state, message } = left.task.status;
      const said = message?.parts ?? [];
      if (isInterrupted(state)) this.#remoteId = left.task.id;
      if (state === "input-required") words = await this.#ask(number, left.task.status);
      else if (state === "auth-required") words = await this.#authorise(left.task);
      else if (state === "completed") {
        // A task that has ended takes nothing more: it is said to another one.
        words = unsaid.shift();
        if (words === undefined) return;
      } else if (state === "rejected") this.#task.reject(textOf(said) || `${this.#name} rejected the task.`);
      else if (state === "canceled")
        throw new TaskFailure(`${this.#name} canceled the task.`, { code: "remote-canceled" });
      else throw new TaskFailure(textOf(said) || `${this.#name} failed.`, { code: "remote-failed" });
      before = left;
    }
  }

  async #round(round: Round): Promise<Bare | Left> {
    const { number, words, before } = round;
    let live: AsyncIterable<RemoteStreamEvent> | undefined;
    let taken: Taken | undefined = before && {
      kind: "task",
      id: before.task.id,
      contextId: before.task.contextId,
    };
    if (words !== undefined) {
      const begun = await this.#task.step(`send-${number}`, ({ attempt, signal }): Begun => {
        signal.throwIfAborted();
        // Kept, so that a message that is sent again is the same one in all its members.
        return { attempt, at: Date.now(), links: linksTo(before, this.#task) };
      });
      taken = await this.#task.step(`taken-${number}`, async ({ key, attempt }) => {
        if (begun.attempt !== attempt && !mayResend(this.#remote, begun.at)) throw this.#unknown();
        const sent = await this.#send(words, key, begun.links ?? linksTo(before, undefined));
        live = sent.events;
        return sent.taken;
      });
    }
    if (taken === undefined) throw this.#unknown();
    if (taken.kind === "message") return taken;
    const { id, contextId } = taken;
    return this.#task.step(`round-${number}`, async () => {
      const { signal } = this.#connection;
      this.#remoteId = id;
      // Of a task that ended, only the names that it used concern the next.
      const same = before?.task.id === id ? before : undefined;
      const events = live ?? followAgain(this.#remote.task(id), { signal, answered: same?.task.status });
      const artifacts = new RelayedArtifacts(this.#task, same?.names ?? {}, before?.used ?? this.#earlier);
      const over = new AbortController();
      const passing = passOn({
        task: this.#task,
        remote: this.#remote,
        to: { id, contextId },
        round: number,
        until: over.signal,
        signal,
      });
      // It is awaited once the events have ended; whatever breaks it off breaks those off, too.
      passing.catch(() => undefined);
      const left = await this.#relay(events, { id, contextId, before: same, artifacts }).finally(() => over.abort());
      const refused = await passing;
      return left.kind === "message" ? left : { ...left, refused };
    });
  }

  /** What earlier turns of the task have made is not this one's to go on with. */
  get #earlier(): readonly string[] {
    return this.#task.artifacts.map(({ artifactId }) => artifactId);
  }

  /** Sends; where the remote agent takes no contexts that its callers name, once more without one. */
  async #send(words: Words, key: string, links: Links): Promise<Submitted> {
    try {
      return await this.#sendTo(words, key, links);
    } catch (error) {
      if (links.taskId !== undefined || links.contextId === undefined || !isContextRefusal(error)) throw error;
      return this.#sendTo(words, key, {});
    }
  }

  /** Sends, and waits for the first that comes of it. */
  async #sendTo({ parts, metadata }: Words, key: string, links: Links): Promise<Submitted> {
    const { metadata: requested, outputModes, callPath } = this.#task;
    // Safe: whoever sends a message names it.
    const said = { messageId: key as MessageId, parts, ...(metadata !== undefined && { metadata }) };
    const stream = this.#remote.stream(said, {
      metadata: requested,
      outputModes,
      callPath,
      result: "none",
      signal: this.#connection.signal,
      ...links,
    });
    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done === true) throw new RemoteError("network", "It ended the stream without a word.");
    const event = first.value;
    if (event.kind === "message") return { taken: { kind: "message", parts: event.message.parts }, events: stream };
    const { id, contextId } = event.task;
    this.#remoteId = id;
    const events = (async function* () {
      yield event;
      yield* { [Symbol.asyncIterator]: () => iterator };
    })();
    return { taken: { kind: "task", id, contextId }, events };
  }

  /** Passes on what happens until the task ends or asks something. */
  async #relay(
    events: AsyncIterable<RemoteStreamEvent>,
    { id, contextId, before, artifacts }: RelayedTask,
  ): Promise<Bare | Omit<Left, "refused">> {
    const view = new TaskView({ result: "none" });
    if (before !== undefined) view.begin(before.task, before.digests);
    // Safe: these are the ids that the remote agent gave.
    const place = { taskId: id, contextId } as { taskId: Task["id"]; contextId: Task["contextId"] };
    for await (const event of events) {
      if (event.kind === "message") return { kind: "message", parts: event.message.parts };
      let news: readonly RemoteStreamEvent[];
      if (event.kind === "task") news = view.catchUp(event.task);
      else {
        // Taken apart because the task that an event carries is made when looked at, which is too much for every chunk.
        const { kind } = event;
        const bare =
          kind === "status"
            ? { kind, status: event.status, ...(event.metadata !== undefined && { metadata: event.metadata }) }
            : { kind, artifact: event.artifact, append: event.append, lastChunk: event.lastChunk };
        news = isNews(bare, view.status) ? [view.add(bare, place)] : [];
      }
      for (const told of news) await this.#tell(told, artifacts);
      const state = view.status?.state;
      // Authorisation may be given elsewhere, so that agents keep the stream open: here it is asked for now.
      if (state === "auth-required" && !isNotNew(view.status, before)) break;
    }
    const { task } = view;
    if (task === undefined) throw new RemoteError("invalid-agent-response", "It said nothing of the task.");
    const kept: Task = { id: task.id, contextId: task.contextId, status: task.status };
    const digests = isInterrupted(task.status.state) ? view.digests : undefined;
    const { names, used } = artifacts;
    return { kind: "task", task: kept, names, used, ...(digests !== undefined && { digests }) };
  }

  async #tell(event: RemoteStreamEvent, artifacts: RelayedArtifacts): Promise<void> {
    if (event.kind === "artifact") return artifacts.write(event);
    if (event.kind === "message") return;
    if (event.kind === "task") {
      for (const artifact of event.task.artifacts ?? [])
        await artifacts.write({ artifact, append: false, lastChunk: false });
    }
    const { state, message } = event.kind === "task" ? event.task.status : event.status;
    if (state !== "working" && state !== "submitted" && state !== "completed") return;
    if (message === undefined || message.parts.length === 0) return;
    await this.#task.status(message.parts, event.kind === "status" ? event.metadata : undefined);
  }

  async #ask(round: number, { message }: TaskStatus): Promise<Words> {
    const { parts, sensitive, requestId } = remoteQuestion(message);
    const { history } = this.#task;
    const known = history.length;
    const question = parts ?? `${this.#name} needs an answer.`;
    const text = await this.#task.ask(question, { name: `question-${round}`, sensitive });
    // What must be kept secret is in no history.
    const answer = history.length > known ? history.at(-1) : undefined;
    return remoteAnswer(answer ?? { parts: [{ text }] }, message, requestId);
  }

  async #authorise({ id, status }: Task): Promise<Words | undefined> {
    const { message } = status;
    const { parts, requestId } = remoteQuestion(message);
    const settled = new AbortController();
    const until = (signal: AbortSignal): Promise<void> =>
      whenChanged(this.#remote.task(id), AbortSignal.any([signal, settled.signal]));
    try {
      const answer = await this.#task.requireAuth(parts ?? `${this.#name} needs an authorisation.`, { until });
      return answer === undefined ? undefined : remoteAnswer(answer, message, requestId);
    } finally {
      settled.abort();
    }
  }

  /** Only what the caller gave up is given up over there: everything else goes on with it later. */
  #stop(): void {
    const reason: unknown = this.#task.signal.reason;
    const isGivenUp = reason instanceof TaskAborted && (reason.reason === "canceled" || reason.reason === "timeout");
    if (!isGivenUp) this.#connection.abort();
    else this.#canceling = this.#cancel().finally(() => this.#connection.abort());
  }

  async #cancel(): Promise<void> {
    const deadline = performance.now() + CANCEL_WITHIN;
    // A message is on its way, perhaps: what comes of it must not go on unseen.
    while (this.#remoteId === undefined && !this.#isOver && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.#remoteId === undefined) return;
    try {
      await this.#remote.task(this.#remoteId).cancel({ timeout: CANCEL_WITHIN });
    } catch (error) {
      this.#task.log.warn("The remote task could not be canceled", { remoteTask: this.#remoteId, error });
    }
  }

  get #name(): string {
    return `The agent ${JSON.stringify(this.#remote.card.name)}`;
  }

  #unknown(): TaskFailure {
    return new TaskFailure(
      `${this.#name} may or may not have got the message: the connection or this server broke off before it answered. It is not sent again, so that nothing is done twice.`,
      { code: "remote-outcome-unknown", data: { code: "remote-outcome-unknown" } },
    );
  }

  #loop(cause: RemoteError): TaskFailure {
    return new TaskFailure(
      `Loop detected: ${this.#name} refused the message because it had passed it on before, or because too many agents have passed it on.`,
      { code: "remote-loop-detected", cause },
    );
  }

  #failure(error: RemoteError): TaskFailure {
    const { code, remote } = error;
    // Callers are told what kind of failure it is; the error has addresses and answers of the remote agent in it.
    this.#task.log.warn("The remote agent failed", { remoteTask: this.#remoteId, code, remote, error });
    if (code === "outcome-unknown") return this.#unknown();
    return code === "loop-detected" ? this.#loop(error) : remoteFailure(this.#name, error);
  }
}

/** What a message to the remote agent belongs to: the task before, that one's context once it has ended, or the caller's context. */
function linksTo(before: Left | undefined, task: TaskContext | undefined): Links {
  if (before === undefined) return task === undefined ? {} : { contextId: remoteContextId(task) };
  const { id, contextId, status } = before.task;
  return { contextId, ...(!isTerminal(status.state) && { taskId: id }) };
}

function isNotNew(status: TaskStatus | undefined, before: Left | undefined): boolean {
  return status !== undefined && status === before?.task.status;
}
