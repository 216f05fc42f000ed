import type { TaskEvent } from "../src/protocol/event.ts";
import { hash } from "./random.ts";

/** The compared members of a message, status or artifact. */
interface WirePart {
  readonly text?: string;
}

interface WireStatus {
  readonly state: string;
  readonly message?: { readonly parts?: readonly WirePart[] };
}

interface WireArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly parts?: readonly WirePart[];
}

interface WireArtifactUpdate {
  readonly artifact: WireArtifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

export interface WireTask {
  readonly id: string;
  readonly status: WireStatus;
  readonly artifacts?: readonly WireArtifact[];
}

/** An event or a task in the format of 1.0 or 0.3: the content of a stream frame, a response or a notification. */
export interface WireEvent extends Partial<WireTask> {
  readonly kind?: string;
  readonly task?: WireTask;
  readonly statusUpdate?: { readonly status: WireStatus };
  readonly artifactUpdate?: WireArtifactUpdate;
  readonly artifact?: WireArtifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** The compared content of a whole task: its status as a line, and the text of every artifact by name. */
export interface TaskPicture {
  readonly status: string;
  readonly artifacts: Readonly<Record<string, string>>;
}

const LONGEST_TEXT = 60;

/** One event of the log as one line. The same event gives the same line in every format. */
export function lineOf(event: TaskEvent): string {
  return event.kind === "status" ? statusLine(event.status) : artifactLine(event);
}

/** Like {@link lineOf}, from the wire format. `undefined`: it is a whole task. */
export function wireLine(event: WireEvent): string | undefined {
  const status = event.statusUpdate?.status ?? (event.kind === "status-update" ? event.status : undefined);
  if (status !== undefined) return statusLine(status);
  if (event.artifactUpdate !== undefined) return artifactLine(event.artifactUpdate);
  if (event.artifact === undefined) return undefined;
  return artifactLine({ ...event, artifact: event.artifact });
}

/** The whole task in a response, frame or notification, if there is one. */
export function wireTask({ task, kind, id, status, artifacts }: WireEvent): WireTask | undefined {
  if (task !== undefined) return task;
  if (id === undefined || status === undefined || (kind !== undefined && kind !== "task")) return undefined;
  return { id, status, ...(artifacts !== undefined && { artifacts }) };
}

export function pictureOf({ status, artifacts = [] }: WireTask): TaskPicture {
  const texts = artifacts.map(({ artifactId, name, parts }) => [name ?? artifactId, shortened(textOf(parts))]);
  return { status: statusLine(status), artifacts: Object.fromEntries(texts) };
}

export function statusLine({ state, message }: WireStatus): string {
  const text = textOf(message?.parts);
  return `status ${plainState(state)}${text === "" ? "" : ` ${JSON.stringify(text)}`}`;
}

/** `input-required` for both `input-required` and `TASK_STATE_INPUT_REQUIRED`. */
export function plainState(state: string): string {
  return state
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

export function textOf(parts: readonly WirePart[] = []): string {
  return parts.map(({ text = "" }) => text).join("");
}

/** Shortens long texts to their beginning, length and hash. */
export function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters, ${hash(text).toString(16)})`;
}

function artifactLine({ artifact, append = false, lastChunk = false }: WireArtifactUpdate): string {
  const text = shortened(textOf(artifact.parts));
  return `artifact ${artifact.name ?? artifact.artifactId} ${append ? "+=" : "="} ${JSON.stringify(text)}${lastChunk ? " last" : ""}`;
}
