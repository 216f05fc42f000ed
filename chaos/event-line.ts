import type { TaskEvent } from "../src/protocol/event.ts";
import { hash } from "./random.ts";

/** The part of a message, status or artifact that stories compare. */
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

/** An event or a task in the form of 1.0 or of 0.3: what a frame of a stream, an answer or a notification holds. */
export interface WireEvent extends Partial<WireTask> {
  readonly kind?: string;
  readonly task?: WireTask;
  readonly statusUpdate?: { readonly status: WireStatus };
  readonly artifactUpdate?: WireArtifactUpdate;
  readonly artifact?: WireArtifact;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

/** A whole task as far as stories compare it: its status as a line, and the text of every artifact by name. */
export interface TaskPicture {
  readonly status: string;
  readonly artifacts: Readonly<Record<string, string>>;
}

const LONGEST_TEXT = 60;

/** One event of the log as one line. The same event gives the same line however it was sent. */
export function lineOf(event: TaskEvent): string {
  return event.kind === "status" ? statusLine(event.status) : artifactLine(event);
}

/** As {@link lineOf}, from the wire. `undefined`: it is a whole task. */
export function wireLine(event: WireEvent): string | undefined {
  const status = event.statusUpdate?.status ?? (event.kind === "status-update" ? event.status : undefined);
  if (status !== undefined) return statusLine(status);
  if (event.artifactUpdate !== undefined) return artifactLine(event.artifactUpdate);
  if (event.artifact === undefined) return undefined;
  return artifactLine({ ...event, artifact: event.artifact });
}

/** The whole task that an answer, a frame or a notification holds, if it holds one. */
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

/** Long texts by their beginning, length and hash. */
export function shortened(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters, ${hash(text).toString(16)})`;
}

function artifactLine({ artifact, append = false, lastChunk = false }: WireArtifactUpdate): string {
  const text = shortened(textOf(artifact.parts));
  return `artifact ${artifact.name ?? artifact.artifactId} ${append ? "+=" : "="} ${JSON.stringify(text)}${lastChunk ? " last" : ""}`;
}
