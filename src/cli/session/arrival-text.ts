import { oneLine } from "../../internal/terminal-text.ts";
import { textOf } from "../../protocol/part.ts";
import type { Arrival } from "./hooks-listener.ts";

const GREEN = 32;
const YELLOW = 33;
const RED = 31;
/** Characters of a message or artifact that a line shows. */
const MAX_PREVIEW = 60;

/** Colours a text, or returns it unchanged. */
export type Paint = (colour: number, text: string) => string;

/** One line of text: time, verification result, content, and the reason of a rejection. */
export function arrivalText(arrival: Arrival, at: number, paint: Paint): string {
  const { verdict, notification, answered, method, path } = arrival;
  const time = new Date(at).toISOString().slice(11, 23);
  const content =
    notification === undefined ? `${method} ${path}` : `${notification.taskId ?? "-"}  ${contentOf(notification)}`;
  const status = answered === 204 ? "" : paint(YELLOW, `  → ${answered}`);
  return `${time}  ${verdictText(verdict, paint)}  ${oneLine(content)}${status}\n`;
}

function verdictText(verdict: Arrival["verdict"], paint: Paint): string {
  if (verdict === undefined) return paint(YELLOW, "unchecked");
  if (!verdict.ok) return paint(RED, `refused: ${verdict.reason}`);
  const by = verdict.issuer === undefined ? "token" : oneLine(verdict.issuer);
  return `${paint(GREEN, "verified")} (${by})${verdict.repeated ? paint(YELLOW, " repeated") : ""}`;
}

function contentOf({ event }: NonNullable<Arrival["notification"]>): string {
  switch (event.kind) {
    case "task":
      return `task ${event.task.status.state}`;
    case "status":
      return `status ${event.status.state}${preview(event.status.message?.parts)}`;
    case "artifact":
      return `artifact ${event.artifact.name ?? event.artifact.artifactId}${preview(event.artifact.parts)}`;
    case "message":
      return `message${preview(event.message.parts)}`;
  }
}

function preview(parts: Parameters<typeof textOf>[0] = []): string {
  const text = textOf(parts);
  if (text === "") return "";
  return text.length > MAX_PREVIEW ? `: ${text.slice(0, MAX_PREVIEW)}…` : `: ${text}`;
}

/** The same as one line of JSON. A JSON body is included as it is. */
export function arrivalJson(arrival: Arrival, at: number): string {
  const { verdict, notification, answered, method, path, body } = arrival;
  return `${JSON.stringify({
    at: new Date(at).toISOString(),
    method,
    path,
    verified: verdict?.ok ?? null,
    ...(verdict?.ok === false && { reason: verdict.reason }),
    ...(verdict?.ok === true && { issuer: verdict.issuer, jti: verdict.jti, repeated: verdict.repeated }),
    taskId: notification?.taskId,
    kind: notification?.event.kind,
    state: notification?.state,
    answered,
    body: parsed(body),
  })}\n`;
}

function parsed(body: Uint8Array): unknown {
  const text = new TextDecoder().decode(body);
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    // Not JSON: shown as text.
    return text;
  }
}
