// How one task is relayed. The conversation with the remote agent has rounds: a message is sent, events are relayed until the remote task
// ends or asks a question, and the answer starts the next round. Each round is stored as three steps (`send-N`, `taken-N`, `round-N`), and
// replay skips the finished ones after a restart.

import type { AgentClient, RemoteStreamEvent } from "../../client/api.ts";
import type { DigestRecord } from "../../client/follow/artifact-digests.ts";
import { TaskView } from "../../client/follow/task-view.ts";
import { RemoteError } from "../../client/http/errors.ts";
import { type Output, type StepContext, TaskAborted, type TaskContext } from "../../engine/agent/agent.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import { CALLS } from "../../protocol/calls/ancestry.ts";
import { relayedAnswer, relayedQuestion } from "../../protocol/calls/relayed-question.ts";
import type { MessageId } from "../../protocol/ids.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import { type MessageContent, mayResend, passOn } from "./pass-on.ts";
import { type ArtifactNames, RelayedArtifacts } from "./relayed-artifacts.ts";
import { isContextRefusal, remoteContextId } from "./remote-context.ts";
import { followAgain, isNewEvent, whenChanged } from "./remote-events.ts";
import { remoteFailure } from "./remote-failure.ts";

type DirectReply = { readonly kind: "message"; readonly parts: readonly Part[] };

/** The remote agent's answer to a message: a task, or a message without a task. */
type Accepted = DirectReply | { readonly kind: "task"; readonly id: string; readonly contextId: string };

/** The remote task and context of a message. */
type Links = { readonly contextId?: string; readonly taskId?: string };

/** The step that sends a message. */
type SendStep = Pick<StepContext, "key" | "trace">;

/** Stored before a message is sent. `links` is absent in records of earlier versions. */
type SendRecord = { readonly attempt: number; readonly at: number; readonly links?: Links };

/** The remote agent's answer to a message, and the events that follow. */
interface Submitted {
  readonly taken: Accepted;
  readonly events: AsyncIterable<RemoteStreamEvent>;
}

/** The remote task at the end of a round: finished, or waiting for input. */
interface RoundResult {
  readonly kind: "task";
  /** Without artifacts, except in records of earlier versions. */
  readonly task: Task;
  /** Digests of its artifacts, while the task is unfinished. */
  readonly digests?: DigestRecord;
  readonly names: ArtifactNames;
  readonly used: readonly string[];
  /** The caller's messages that the remote agent rejected meanwhile. */
  readonly refused: readonly MessageContent[];
}

/** One message to the remote agent and everything until the remote task ends or asks. */
interface Round {
  readonly number: number;
  /** `undefined`: no message to send, the remote task continues by itself. */
  readonly content: MessageContent | undefined;
  readonly before: RoundResult | undefined;
}

/** The remote task whose events are relayed. */
interface RelayedTask {
  readonly id: string;
  readonly contextId: string;
  readonly before: RoundResult | undefined;
  readonly artifacts: RelayedArtifacts;
}

/** Milliseconds that a canceled task waits for the remote task's id and for its cancelation. */
const CANCEL_WITHIN = 10_000;

/**
 * Relays one task to a remote agent. What was sent, its answer and the end of each round are stored as steps, so an attempt after a restart continues
 * the same remote task and sends nothing twice.
 */
export class Relay {
  readonly #remote: AgentClient;
  readonly #task: TaskContext;
  /** Not the task's own signal: a cancel must reach the remote agent before the connection is closed. */
  readonly #connection = new AbortController();
  /** The unfinished remote task, which a cancel is for. */
  #remoteId: string | undefined;
  #canceling: Promise<void> | undefined;
  #isOver = false;

  constructor(remote: AgentClient, task: TaskContext) {
    this.#remote = remote;
    this.#task = task;
  }

  /** Resolves when the remote task is completed. Throws a `TaskFailure` that callers may see; the details go to the log. */
  async run(): Promise<Output | void> {
    const { signal } = this.#task;
    const stop = (): void => this.#stop();
    signal.addEventListener("abort", stop, { once: true });
    // Canceled while the server was down: the stored steps name the remote task to cancel.
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

  /**
   * The remote states and what they mean here: a question is asked, a rejection rejects, a failure fails, and a completed task ends the
   * relay unless a message still waits.
   */
  async #rounds(): Promise<Output | void> {
    let content: MessageContent | undefined = this.#task.message;
    let before: RoundResult | undefined;
    const notAccepted: MessageContent[] = [];
    for (let number = 0; ; number++) {
      const left: DirectReply | RoundResult = await this.#round({ number, content, before });
      if (left.kind === "message") return left.parts;
      notAccepted.push(...left.refused);
      const { state, message } = left.task.status;
      const parts = message?.parts ?? [];
      if (isInterrupted(state)) this.#remoteId = left.task.id;
      if (state === "input-required") content = await this.#ask(number, left.task.status);
      else if (state === "auth-required") content = await this.#authorise(left.task);
      else if (state === "completed") {
        // A finished task accepts no messages: the next message starts another one.
        content = notAccepted.shift();
        if (content === undefined) return;
      } else if (state === "rejected") this.#task.reject(textOf(parts) || `${this.#name} rejected the task.`);
      else if (state === "canceled")
        throw new TaskFailure(`${this.#name} canceled the task.`, { code: "remote-canceled" });
      else throw new TaskFailure(textOf(parts) || `${this.#name} failed.`, { code: "remote-failed" });
      before = left;
    }
  }

  /** After a restart, the stored answer of `taken-N` names the remote task, and `followAgain` continues where `round-N` was interrupted. */
  async #round(round: Round): Promise<DirectReply | RoundResult> {
    const { number, content, before } = round;
    let live: AsyncIterable<RemoteStreamEvent> | undefined;
    let taken: Accepted | undefined = before && {
      kind: "task",
      id: before.task.id,
      contextId: before.task.contextId,
    };
    if (content !== undefined) {
      const begun = await this.#task.step(`send-${number}`, ({ attempt, signal }): SendRecord => {
        signal.throwIfAborted();
        // Stored, so that a resent message is identical.
        return { attempt, at: Date.now(), links: linksTo(before, this.#task) };
      });
      taken = await this.#task.step(`taken-${number}`, async ({ key, attempt, trace }) => {
        if (begun.attempt !== attempt && !mayResend(this.#remote, begun.at)) throw this.#unknown();
        const sent = await this.#send(content, { key, trace }, begun.links ?? linksTo(before, undefined));
        live = sent.events;
        return sent.taken;
      });
    }
    if (taken === undefined) throw this.#unknown();
    if (taken.kind === "message") return taken;
    const { id, contextId } = taken;
    return this.#task.step(`round-${number}`, async ({ trace }) => {
      const { signal } = this.#connection;
      this.#remoteId = id;
      // Only the artifact names of a finished task matter for the next one.
      const same = before?.task.id === id ? before : undefined;
      const events = live ?? followAgain(this.#remote.task(id), { signal, trace, answered: same?.task.status });
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
      // Awaited when the events have ended; an error here also ends the events.
      passing.catch(() => undefined);
      const left = await this.#relay(events, { id, contextId, before: same, artifacts }).finally(() => over.abort());
      const refused = await passing;
      return left.kind === "message" ? left : { ...left, refused };
    });
  }

  /** Artifacts of earlier turns are not continued in this one. */
  get #earlier(): readonly string[] {
    return this.#task.artifacts.map(({ artifactId }) => artifactId);
  }

  /** Sends the message. If the remote agent rejects context ids from its callers, sends it again without one. */
  async #send(content: MessageContent, step: SendStep, links: Links): Promise<Submitted> {
    try {
      return await this.#sendTo(content, step, links);
    } catch (error) {
      if (links.taskId !== undefined || links.contextId === undefined || !isContextRefusal(error)) throw error;
      return this.#sendTo(content, step, {});
    }
  }

  /** Sends the message and waits for the first event. */
  async #sendTo({ parts, metadata }: MessageContent, { key, trace }: SendStep, links: Links): Promise<Submitted> {
    const { metadata: requested, outputModes, callPath } = this.#task;
    const isDeclared = this.#remote.card.capabilities.extensions?.some(({ uri }) => uri === CALLS) === true;
    const ancestry = isDeclared ? await this.#task.callMetadata(key) : undefined;
    // Safe: message ids are branded where they are created.
    const outgoing = { messageId: key as MessageId, parts, ...(metadata !== undefined && { metadata }) };
    const stream = this.#remote.stream(outgoing, {
      metadata: ancestry === undefined ? requested : { ...requested, ...ancestry },
      outputModes,
      callPath,
      result: "none",
      signal: this.#connection.signal,
      trace,
      ...links,
    });
    const iterator = stream[Symbol.asyncIterator]();
    const first = await iterator.next();
    if (first.done === true)
      throw new RemoteError("network", "The remote agent ended the stream without sending anything.");
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

  /** Relays events until the task is finished or asks a question. */
  async #relay(
    events: AsyncIterable<RemoteStreamEvent>,
    { id, contextId, before, artifacts }: RelayedTask,
  ): Promise<DirectReply | Omit<RoundResult, "refused">> {
    const view = new TaskView({ result: "none" });
    if (before !== undefined) view.begin(before.task, before.digests);
    // Safe: the remote agent's own ids.
    const place = { taskId: id, contextId } as { taskId: Task["id"]; contextId: Task["contextId"] };
    for await (const event of events) {
      if (event.kind === "message") return { kind: "message", parts: event.message.parts };
      let changes: readonly RemoteStreamEvent[];
      if (event.kind === "task") changes = view.catchUp(event.task);
      else {
        // Without `event.task`: reading it builds the whole task, too expensive for every chunk.
        const { kind } = event;
        const bare =
          kind === "status"
            ? { kind, status: event.status, ...(event.metadata !== undefined && { metadata: event.metadata }) }
            : { kind, artifact: event.artifact, append: event.append, lastChunk: event.lastChunk };
        changes = isNewEvent(bare, view.status) ? [view.add(bare, place)] : [];
      }
      for (const change of changes) await this.#forward(change, artifacts);
      const state = view.status?.state;
      // Agents keep the stream open at auth-required, because the authorization may arrive another way. Here the caller is asked now.
      if (state === "auth-required" && !isNotNew(view.status, before)) break;
    }
    const { task } = view;
    if (task === undefined) throw new RemoteError("invalid-agent-response", "The remote agent sent no task.");
    const kept: Task = { id: task.id, contextId: task.contextId, status: task.status };
    const digests = isInterrupted(task.status.state) ? view.digests : undefined;
    const { names, used } = artifacts;
    return { kind: "task", task: kept, names, used, ...(digests !== undefined && { digests }) };
  }

  /** Status messages of questions and failures are not forwarded here: `#rounds` asks or fails with them. */
  async #forward(event: RemoteStreamEvent, artifacts: RelayedArtifacts): Promise<void> {
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

  /** Asks the caller, and returns the answer with the remote agent's request id. */
  async #ask(round: number, { message }: TaskStatus): Promise<MessageContent> {
    const { parts, sensitive, requestId } = relayedQuestion(message);
    const { history } = this.#task;
    const known = history.length;
    const question = parts ?? `${this.#name} needs an answer.`;
    const text = await this.#task.ask(question, { name: `question-${round}`, sensitive });
    // A sensitive answer is not in the history.
    const answer = history.length > known ? history.at(-1) : undefined;
    return relayedAnswer(answer ?? { parts: [{ text }] }, message, requestId);
  }

  /** `undefined`: the authorisation arrived another way, and the remote task continues without a message. */
  async #authorise({ id, status }: Task): Promise<MessageContent | undefined> {
    const { message } = status;
    const { parts, requestId } = relayedQuestion(message);
    const settled = new AbortController();
    const until = (signal: AbortSignal): Promise<void> =>
      whenChanged(this.#remote.task(id), AbortSignal.any([signal, settled.signal]));
    try {
      const answer = await this.#task.requireAuth(parts ?? `${this.#name} needs an authorisation.`, { until });
      return answer === undefined ? undefined : relayedAnswer(answer, message, requestId);
    } finally {
      settled.abort();
    }
  }

  /** Cancels the remote task only if the caller canceled. After other aborts, a later attempt continues it. */
  #stop(): void {
    const reason: unknown = this.#task.signal.reason;
    const isGivenUp = reason instanceof TaskAborted && (reason.reason === "canceled" || reason.reason === "timeout");
    if (!isGivenUp) this.#connection.abort();
    else this.#canceling = this.#cancel().finally(() => this.#connection.abort());
  }

  /** Best effort: a remote task that cannot be canceled is logged, and this task is canceled anyway. */
  async #cancel(): Promise<void> {
    const deadline = performance.now() + CANCEL_WITHIN;
    // A message may be on its way: the task that it creates must be canceled too.
    while (this.#remoteId === undefined && !this.#isOver && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.#remoteId === undefined) return;
    try {
      await this.#remote.task(this.#remoteId).cancel({ timeout: CANCEL_WITHIN, trace: this.#task.trace });
    } catch (error) {
      this.#task.log.warn("The remote task could not be canceled", { remoteTask: this.#remoteId, error });
    }
  }

  get #name(): string {
    return `The agent ${JSON.stringify(this.#remote.card.name)}`;
  }

  #unknown(): TaskFailure {
    return new TaskFailure(
      `${this.#name} may or may not have received the message: the connection or this server failed before it answered. The message is not sent again, so that the work is not done twice.`,
      { code: "remote-outcome-unknown", data: { code: "remote-outcome-unknown" } },
    );
  }

  #loop(cause: RemoteError): TaskFailure {
    return new TaskFailure(
      `Loop detected: ${this.#name} rejected the message because it has forwarded it before, or because too many agents have forwarded it.`,
      { code: "remote-loop-detected", cause },
    );
  }

  #failure(error: RemoteError): TaskFailure {
    const { code, remote } = error;
    // Callers get only the kind of failure: the error contains URLs and responses of the remote agent.
    this.#task.log.warn("The remote agent failed", { remoteTask: this.#remoteId, code, remote, error });
    if (code === "outcome-unknown") return this.#unknown();
    return code === "loop-detected" ? this.#loop(error) : remoteFailure(this.#name, error);
  }
}

/** The remote task and context of a message: the unfinished task, else the context of the finished one, else the caller's context. */
function linksTo(before: RoundResult | undefined, task: TaskContext | undefined): Links {
  if (before === undefined) return task === undefined ? {} : { contextId: remoteContextId(task) };
  const { id, contextId, status } = before.task;
  return { contextId, ...(!isTerminal(status.state) && { taskId: id }) };
}

function isNotNew(status: TaskStatus | undefined, before: RoundResult | undefined): boolean {
  return status !== undefined && status === before?.task.status;
}
