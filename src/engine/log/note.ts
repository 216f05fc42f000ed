import { parseOwnJson } from "../../internal/own-json.ts";
import type { ArtifactEvent, StatusEvent } from "../../protocol/event.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import { fingerprint } from "./fingerprint.ts";

/** What a log entry says, to a later replay alone, of where it came from. Absent: the author's own, unchanged. */
export interface Note {
  /** The engine's doing, not the author's. */
  readonly e?: 1;
  /** Content of earlier turns, written again when the artifact was restarted. */
  readonly b?: 1;
  /**
   * On an event that begins an artifact anew: how often the author had replaced it in this turn by then. Absent: never, which is to say
   * that only the engine began it anew.
   */
  readonly g?: number;
  /** The step in which it was written. */
  readonly s?: string;
  /** Fingerprints of what the author wrote, where a transform changed it. */
  readonly d?: readonly string[];
}

/** Not the author's doing: the engine's own status, or a chunk that closes an artifact, passed over when a replay compares. */
export const ENGINE_NOTE = '{"e":1}';

export function writeNote(note: Note): string | undefined {
  const text = JSON.stringify(note);
  return text === "{}" ? undefined : text;
}

export function readNote(text: string | undefined): Note {
  return text === undefined ? {} : parseOwnJson<Note>(text);
}

export function partFingerprint(part: Part): string {
  return fingerprint(JSON.stringify(part));
}

export function statusFingerprint(parts: readonly Part[] | undefined, metadata: JsonObject | undefined): string {
  return fingerprint(JSON.stringify([parts ?? [], metadata ?? null]));
}

export function loggedStatusFingerprint(event: StatusEvent, note: Note): string {
  return note.d?.[0] ?? statusFingerprint(event.status.message?.parts, event.metadata);
}

export function loggedPartFingerprints(event: ArtifactEvent, note: Note): readonly string[] {
  return note.d ?? event.artifact.parts.map(partFingerprint);
}
