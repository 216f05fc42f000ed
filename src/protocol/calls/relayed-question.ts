import { authRequestOf } from "../auth-request-part.ts";
import { answerMetadata, type InputRequest, inputRequestsOf, inputSchemaOf } from "../input-request.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../message.ts";
import type { Part } from "../part.ts";
import { toolResultOf, toolResultPart, toolUseOf } from "../tool-part.ts";

/** What is relayed of a message. Ids and links are those of the other side. */
type MessageContent = Pick<Message, "parts" | "metadata">;

/** A question of the remote agent, to be relayed to the caller. */
export interface RelayedQuestion {
  /** `undefined`: the remote agent gave no text. */
  readonly parts: readonly Part[] | undefined;
  /** The answer must not be stored, shown or logged. */
  readonly sensitive: boolean;
  /** The remote request id that the answer names; `undefined`: the remote agent gave none. */
  readonly requestId: string | undefined;
}

/**
 * The question in a remote status message. Of several open questions it is the first, because each answer names one; the others follow in later rounds. Tool
 * calls are relayed all at once, because each tool result names its own question.
 */
export function relayedQuestion(message: Message | undefined): RelayedQuestion {
  const parts = message?.parts ?? [];
  const requests = inputRequestsOf(message);
  const first = requests.find(({ kind }) => kind === "input-request") ?? requests[0];
  const isWhole = requests.length <= 1 || parts.some((part) => toolUseOf(part) !== undefined);
  const schemas = parts.filter((part) => inputSchemaOf(part)?.requestId === first?.requestId);
  const shown = isWhole || first === undefined ? parts : [{ text: first.prompt }, ...schemas];
  return {
    parts: shown.length === 0 ? undefined : shown,
    sensitive: isWhole ? isSensitive(message?.metadata, first) : first?.sensitive === true,
    requestId: first?.requestId ?? parts.flatMap((part) => authRequestOf(part)?.requestId ?? [])[0],
  };
}

/** The caller's answer for the remote agent, with the remote request id instead of the local one. */
export function relayedAnswer(
  answer: MessageContent,
  asked: Message | undefined,
  requestId: string | undefined,
): MessageContent {
  const remoteIds = new Set((asked?.parts ?? []).flatMap((part) => toolUseOf(part)?.toolUseId ?? []));
  const { inputRequest: _own, ...others } = answer.metadata ?? {};
  const hasResult = answer.parts.some((part) => toolResultOf(part) !== undefined);
  const metadata: JsonObject = {
    ...others,
    ...(requestId !== undefined && !hasResult && answerMetadata(requestId)),
  };
  const parts = answer.parts.map((part) => {
    const used = toolResultOf(part);
    if (used === undefined || requestId === undefined || remoteIds.has(used.toolUseId)) return part;
    return toolResultPart({ toolUseId: requestId, result: used.result });
  });
  return { parts, ...(Object.keys(metadata).length > 0 && { metadata }) };
}

/** Whether the question is sensitive. Some agents mark the message, others the question in it. */
function isSensitive(metadata: JsonObject | undefined, request: InputRequest | undefined): boolean {
  const listed: unknown = metadata?.["inputRequest"];
  const isNamed = typeof listed === "object" && listed !== null && "sensitive" in listed && listed.sensitive === true;
  return metadata?.["sensitive"] === true || isNamed || request?.sensitive === true;
}
