import type { AgentCard, AgentExtension } from "../protocol/card.ts";
import { IDEMPOTENT_SEND } from "../protocol/extensions.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Task } from "../protocol/task.ts";
import type { ClientRequest, RemoteResult } from "../wire/client/client-codec.ts";
import { neverSent, repeating, wasNotTaken } from "./http/back-off.ts";
import type { Channel } from "./http/channel.ts";
import { RemoteError, toRemoteError } from "./http/errors.ts";
import type { ClientSettings } from "./http/settings.ts";

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

const UNDECLARED = "the agent does not declare that it takes a message only once";
const NAMELESS = "in the agent's version of the protocol a message has no id to be known by";

/** One agent at the other end, and what has been found out about it. */
export class AgentHost {
  readonly channel: Channel;
  readonly settings: ClientSettings;
  /** In requests: the channel knows it. */
  readonly tenant = "";
  /** It streams, as far as is known. */
  streams: boolean;
  #card: AgentCard;
  /** Of the two verbs that versions disagree about, the unusual one is right. Unknown until one was. */
  subscribesByOtherVerb: boolean | undefined;

  constructor({ card, channel, settings }: AgentHostOptions) {
    this.#card = card;
    this.channel = channel;
    this.settings = settings;
    this.streams = channel.dialect.streams && card.capabilities.streaming === true;
  }

  get card(): AgentCard {
    return this.#card;
  }

  /** Takes a card that says more about the same agent. The way in stays as it was chosen. */
  replaceCard(card: AgentCard): void {
    const { streaming } = card.capabilities;
    // What it was found to do counts for more than that it says the same again.
    if (streaming !== this.#card.capabilities.streaming)
      this.streams = this.channel.dialect.streams && streaming === true;
    this.#card = card;
  }

  /** Milliseconds for which a message may be sent again by the same id, on the way in that is taken now; 0: not at all. */
  get resendWindow(): number {
    const { resend } = this.settings;
    if (resend !== undefined) return resend ? Number.POSITIVE_INFINITY : 0;
    const declared = this.#onceDeclared;
    if (declared === undefined || !this.channel.dialect.messageIds) return 0;
    const seconds = declared.params?.["windowSeconds"];
    return typeof seconds === "number" ? seconds * 1000 : Number.POSITIVE_INFINITY;
  }

  /** The card declares that repeated messages are recognised. Such a server also numbers the events of its streams. */
  get takesMessagesOnce(): boolean {
    return this.#onceDeclared !== undefined;
  }

  get #onceDeclared(): AgentExtension | undefined {
    return this.#card.capabilities.extensions?.find(({ uri }) => uri === IDEMPOTENT_SEND);
  }

  /** Whether a message that was first sent at that time may be sent again now. */
  mayResend(firstAt: number): boolean {
    return this.settings.clock.now() - firstAt < this.resendWindow;
  }

  /** Asks, and asks again where that does no harm. */
  async ask(request: Exclude<ClientRequest, SendRequest>, signal: AbortSignal): Promise<RemoteResult> {
    const call = this.channel.prepare(request);
    const isSafe = (): boolean => SAFE.has(request.operation);
    return repeating(this.settings, { isSafe, signal }, () => this.channel.ask(call, { signal }));
  }

  async get(id: TaskId, signal: AbortSignal, history?: number): Promise<Task> {
    const result = await this.ask({ operation: "get", tenant: this.tenant, id, history }, signal);
    if (result.kind === "task" || result.kind === "sent") return result.task;
    throw unexpected(result);
  }

  /** Sends a message. Whether it arrived is known afterwards, unless the error says otherwise. */
  async send(request: SendRequest, signal: AbortSignal): Promise<RemoteResult> {
    const call = this.channel.prepare(request);
    const failures: RemoteError[] = [];
    const firstAt = this.settings.clock.now();
    const attempt = (): Promise<RemoteResult> =>
      this.channel.ask(call, { signal }).catch((thrown: unknown) => {
        failures.push(toRemoteError(thrown));
        throw thrown;
      });
    try {
      return await repeating(this.settings, { isSafe: () => this.mayResend(firstAt), signal }, attempt);
    } catch (thrown) {
      throw this.unknownOutcome(toRemoteError(thrown), request.message, failures);
    }
  }

  /**
   * The error, or, where it leaves open whether a message arrived, one that says so. That nobody was there in the end says nothing
   * of the tries before.
   */
  unknownOutcome(
    error: RemoteError,
    { messageId, taskId }: Message,
    failures: readonly RemoteError[] = [error],
  ): RemoteError {
    const isOpen = (failure: RemoteError): boolean => failure.code === "network" && !neverSent(failure);
    if (!isOpen(error) && !(wasNotTaken(error) && failures.some(isOpen))) return error;
    const whyNot = this.#onceDeclared === undefined ? UNDECLARED : NAMELESS;
    const again =
      this.resendWindow > 0 ? "It was sent several times by the same id." : `It was not sent again: ${whyNot}.`;
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
