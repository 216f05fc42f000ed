import type { AgentCard } from "../protocol/card.ts";
import { IDEMPOTENT_SEND } from "../protocol/extensions.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Task } from "../protocol/task.ts";
import type { ClientRequest, RemoteResult } from "../wire/client-codec.ts";
import { neverSent, repeating } from "./back-off.ts";
import type { Channel } from "./channel.ts";
import { RemoteError, toRemoteError } from "./errors.ts";
import type { ClientSettings } from "./settings.ts";

export interface AgentHostOptions {
  readonly card: AgentCard;
  readonly channel: Channel;
  readonly settings: ClientSettings;
}

/** Operations that may be asked twice without anything happening twice. */
const SAFE: ReadonlySet<ClientRequest["operation"]> = new Set<ClientRequest["operation"]>([
  "get",
  "list",
  "subscribe",
  "push-get",
  "push-list",
  "push-delete",
  "extended-card",
]);

/** One agent at the other end, and what has been found out about it. */
export class AgentHost {
  readonly card: AgentCard;
  readonly channel: Channel;
  readonly settings: ClientSettings;
  /** A message may be sent again by the same id. */
  readonly resend: boolean;
  /** In requests: the channel knows it. */
  readonly tenant = "";
  /** It streams, as far as is known. */
  streams: boolean;
  /** Of the two verbs that versions disagree about, the unusual one is right. Unknown until one was. */
  subscribesByOtherVerb: boolean | undefined;

  constructor({ card, channel, settings }: AgentHostOptions) {
    this.card = card;
    this.channel = channel;
    this.settings = settings;
    const { streaming, extensions = [] } = card.capabilities;
    this.streams = channel.dialect.streams && streaming === true;
    this.resend = settings.resend ?? extensions.some(({ uri }) => uri === IDEMPOTENT_SEND);
  }

  /** Asks, and asks again where that does no harm. */
  async ask(request: Exclude<ClientRequest, SendRequest>, signal: AbortSignal): Promise<RemoteResult> {
    const call = this.channel.prepare(request);
    return repeating(this.settings, { safe: SAFE.has(request.operation), signal }, () =>
      this.channel.ask(call, { signal }),
    );
  }

  async get(id: TaskId, signal: AbortSignal, history?: number): Promise<Task> {
    const result = await this.ask({ operation: "get", tenant: this.tenant, id, history }, signal);
    if (result.kind === "task" || result.kind === "sent") return result.task;
    throw unexpected(result);
  }

  /** Sends a message. Whether it arrived is known afterwards, unless the error says otherwise. */
  async send(request: SendRequest, signal: AbortSignal): Promise<RemoteResult> {
    const call = this.channel.prepare(request);
    try {
      return await repeating(this.settings, { safe: this.resend, signal }, () => this.channel.ask(call, { signal }));
    } catch (thrown) {
      throw this.unknownOutcome(toRemoteError(thrown), request.message);
    }
  }

  /** The error, or, where it leaves open whether a message arrived, one that says so. */
  unknownOutcome(error: RemoteError, { messageId, taskId }: Message): RemoteError {
    if (error.code !== "network" || neverSent(error)) return error;
    const again = this.resend
      ? "It was sent several times by the same id."
      : "It was not sent again: the agent does not declare that it takes a message only once.";
    return new RemoteError(
      "outcome-unknown",
      `Whether the message ${messageId} reached the agent is not known. ${again} ${error.message}`,
      { cause: error, ...(taskId !== undefined && { taskId }) },
    );
  }
}

/** An answer to another question than the one asked. */
export function unexpected({ kind }: RemoteResult): RemoteError {
  return new RemoteError(
    "invalid-agent-response",
    `The agent's answer is of a kind that does not belong here: ${kind}.`,
  );
}
