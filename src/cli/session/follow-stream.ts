import type { RemoteStream, RemoteStreamEvent } from "../../client/api.ts";
import { RemoteError } from "../../client/http/errors.ts";
import { isInterrupted } from "../../protocol/state.ts";
import { progressText } from "../output/progress.ts";
import { warnOfOutcome } from "./outcome.ts";
import type { Session } from "./session.ts";

export interface ShownStream {
  /** The task that the message continues, if any. */
  readonly repliedTo?: string | undefined;
  /** The stream answers questions itself, and ends with a question that it cannot answer. */
  readonly answers?: boolean;
}

/** Prints a stream's events as they arrive. */
export async function showStream(
  session: Session,
  stream: RemoteStream,
  { repliedTo, answers = false }: ShownStream = {},
): Promise<void> {
  const { output, progress } = session;
  let isEmpty = true;
  for await (const event of stream) {
    isEmpty = false;
    if (event.kind !== "message") {
      if (repliedTo !== undefined && event.task.id !== repliedTo) {
        throw new RemoteError(
          "invalid-agent-response",
          `The agent should have continued task ${repliedTo} and answered with task ${event.task.id}.`,
        );
      }
      session.about(event.task);
      progress.say(progressText(event.task));
    }
    await output.event(event);
    if (!answers && asksCaller(event, repliedTo)) break;
  }
  if (isEmpty) throw new RemoteError("invalid-agent-response", "The agent's stream ended without an answer.");
  await output.streamEnd(stream.task);
  if (stream.task !== undefined) await warnOfOutcome(session, stream.task);
}

/** Whether the task waits for its caller. The question before a reply does not count. */
export function asksCaller(event: RemoteStreamEvent, repliedTo: string | undefined): boolean {
  if (event.kind !== "status" && event.kind !== "task") return false;
  return isInterrupted(event.task.status.state) && !(event.kind === "task" && repliedTo !== undefined);
}
