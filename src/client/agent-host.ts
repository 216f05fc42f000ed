import type { AgentCard, AgentExtension } from "../protocol/card.ts";
import { IDEMPOTENT_SEND } from "../protocol/extensions.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { GetRequest, SendRequest } from "../protocol/operation.ts";
import type { Task } from "../protocol/task.ts";
import type { ClientRequest, RemoteResult } from "../wire/client/client-codec.ts";
import { neverSent, repeating, wasNotTaken } from "./http/back-off.ts";
import type { Channel } from "./http/channel.ts";
import { RemoteError, toRemoteError } from "./http/errors.ts";
import type { ClientSettings } from "./http/settings.ts";

/** What `connect` has found out about an agent. */
export interface AgentHostOptions {
  readonly card: AgentCard;
  readonly channel: Channel;
  readonly settings: ClientSettings;
}

/** Operations that may be repeated: they change nothing, or change nothing the second time. */
const SAFE: ReadonlySet<ClientRequest["operation"]> = new Set<ClientRequest["operation"]>([
  "get",
  "list",
  "subscribe",
  "push-get",
  "push-list",
  "push-delete",
  "extended-card",
]);

/** Why a message was not sent again, for the text of `outcome-unknown`. */
const UNDECLARED = "the agent's card does not declare idempotency";
const NAMELESS = "messages have no ids in the agent's protocol version";

/** A remote agent: how to call it, and what earlier calls have shown about it. */
export class AgentHost {
  readonly channel: Channel;
  readonly settings: ClientSettings;
  /** Always empty in requests: the channel adds the tenant of its interface. */
  readonly tenant = "";
  /** Whether the agent streams, as far as is known. */
  streams: boolean;
  #card: AgentCard;
  /** Whether REST subscriptions need the less common of the two HTTP verbs. `undefined`: not known, so the usual verb is tried first. */
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

  /** Replaces the card, for example by the extended card. The interface in use stays. */
  replaceCard(card: AgentCard): void {
    const { streaming } = card.capabilities;
    // If the new card repeats the old declaration, the observed behaviour still wins.
    if (streaming !== this.#card.capabilities.streaming)
      this.streams = this.channel.dialect.streams && streaming === true;
    this.#card = card;
  }

  /** Milliseconds for which a message may be resent with the same id over the interface in use. 0: never. */
  get resendWindow(): number {
    const { resend } = this.settings;
    if (resend !== undefined) return resend ? Number.POSITIVE_INFINITY : 0;
    const declared = this.#idempotencyExtension;
    if (declared === undefined || !this.channel.dialect.messageIds) return 0;
    const seconds = declared.params?.["windowSeconds"];
    return typeof seconds === "number" ? seconds * 1000 : Number.POSITIVE_INFINITY;
  }

  /** Whether the card declares idempotency. Such a server also numbers the events of its streams. */
  get isIdempotent(): boolean {
    return this.#idempotencyExtension !== undefined;
  }

  get #idempotencyExtension(): AgentExtension | undefined {
    return this.#card.capabilities.extensions?.find(({ uri }) => uri === IDEMPOTENT_SEND);
  }

  /** Whether a message that was first sent at this time may be resent now. */
  mayResend(firstAt: number): boolean {
    return this.settings.clock.now() - firstAt < this.resendWindow;
  }

  /** Makes a request, with retries if repeating it is safe. */
  async ask(request: Exclude<ClientRequest, SendRequest>, signal: AbortSignal): Promise<RemoteResult> {
    const call = this.channel.prepare(request);
    const isSafe = (): boolean => SAFE.has(request.operation);
    return repeating(this.settings, { isSafe, signal }, () => this.channel.ask(call, { signal }));
  }

  /** Reads a task, with retries. `history`: how many messages; `undefined`: the agent chooses. */
  get(id: TaskId, signal: AbortSignal, history?: number): Promise<Task> {
    return this.read({ operation: "get", tenant: this.tenant, id, history }, signal);
  }

  /** Reads a task, with retries. */
  async read(request: GetRequest, signal: AbortSignal): Promise<Task> {
    const result = await this.ask(request, signal);
    if (result.kind === "task" || result.kind === "sent") return result.task;
    throw unexpected(result);
  }

  /** Sends a message. Rejects with `outcome-unknown` if it is not known whether the message arrived. */
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
   * Turns an error into `outcome-unknown` if the message may have arrived. If the last attempt certainly did not arrive, an earlier one
   * may have.
   */
  unknownOutcome(
    error: RemoteError,
    { messageId, taskId }: Message,
    failures: readonly RemoteError[] = [error],
  ): RemoteError {
    const isOpen = (failure: RemoteError): boolean => failure.code === "network" && !neverSent(failure);
    if (!isOpen(error) && !(wasNotTaken(error) && failures.some(isOpen))) return error;
    const whyNot = this.#idempotencyExtension === undefined ? UNDECLARED : NAMELESS;
    const again =
      this.resendWindow > 0 ? "It was sent several times with the same id." : `It was not sent again: ${whyNot}.`;
    return new RemoteError(
      "outcome-unknown",
      `The agent may or may not have received the message ${messageId}. ${again} ${error.message}`,
      { cause: error, ...(taskId !== undefined && { taskId }) },
    );
  }
}

/** The error of a response that belongs to another operation. */
export function unexpected({ kind }: RemoteResult): RemoteError {
  return new RemoteError("invalid-agent-response", `The agent's response does not belong to this operation: ${kind}.`);
}
