import type { AgentClient } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import type { TaskContext } from "../../engine/agent/agent.ts";
import type { MessageId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";

/** What is relayed of a message. Ids and links are those of the other side. */
export type MessageContent = Pick<Message, "parts" | "metadata">;

/** The task, the remote task that its messages go to, and for how long. */
export interface PassOnOptions {
  readonly task: TaskContext;
  readonly remote: AgentClient;
  /** The remote task that is working. */
  readonly to: { readonly id: string; readonly contextId: string };
  /** The number of the round: step names must differ between rounds for replay. */
  readonly round: number;
  /** Aborts when the remote task stops working. */
  readonly until: AbortSignal;
  /** Aborts a message that is being sent. */
  readonly signal: AbortSignal;
}

/**
 * Relays the caller's messages while the remote agent works. Returns the messages that the remote agent rejected meanwhile, to be sent when it is
 * done. No message is sent twice: if it is unknown whether one arrived, a status message reports it to the caller.
 */
export async function passOn(options: PassOnOptions): Promise<readonly MessageContent[]> {
  const { task, round, until } = options;
  const refused: MessageContent[] = [];
  for (let count = 0; ; count++) {
    const message = await task.next({ name: `during-${round}`, signal: until });
    if (message === undefined) return refused;
    const outcome = await pass(options, message, `${round}-${count}`);
    if (outcome === "unknown") await task.status(`${nameOf(options)} may or may not have received the last message.`);
    if (outcome !== "refused") continue;
    const { parts, metadata } = message;
    // A sensitive message must not be stored, so it is not kept for later.
    if (task.history.includes(message)) refused.push({ parts, ...(metadata !== undefined && { metadata }) });
    else await task.status(`${nameOf(options)} rejected the last message.`);
  }
}

/** Two steps per message: the first is stored before sending, so that a later attempt knows that the message may have been sent. */
async function pass(
  { task, remote, to, signal }: PassOnOptions,
  { parts, metadata }: Message,
  place: string,
): Promise<"taken" | "refused" | "unknown"> {
  const begun = await task.step(`pass-${place}`, ({ attempt }) => ({ attempt, at: Date.now() }));
  return task.step(`passed-${place}`, async ({ key, attempt, trace }) => {
    if (begun.attempt !== attempt && !mayResend(remote, begun.at)) return "unknown";
    // Safe: message ids are branded where they are created.
    const outgoing = { messageId: key as MessageId, parts, ...(metadata !== undefined && { metadata }) };
    try {
      const sent = await remote.send(outgoing, {
        wait: false,
        taskId: to.id,
        contextId: to.contextId,
        callPath: task.callPath,
        signal,
        trace,
      });
      if (sent.kind === "message") await task.status(sent.message.parts);
      return "taken";
    } catch (error) {
      if (!(error instanceof RemoteError) || signal.aborted) throw error;
      task.log.info("The remote agent rejected a message", { remoteTask: to.id, error });
      return error.code === "outcome-unknown" ? "unknown" : "refused";
    }
  });
}

/** Whether the remote agent still recognises a message that an earlier attempt may have sent at that time. False if the clock was set back since. */
export function mayResend({ resendWindow }: AgentClient, at: number): boolean {
  const age = Date.now() - at;
  return age >= 0 && age < resendWindow;
}

function nameOf({ remote }: PassOnOptions): string {
  return `The agent ${JSON.stringify(remote.card.name)}`;
}
