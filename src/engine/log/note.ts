import { parseOwnJson } from "../../internal/own-json.ts";
import type { ArtifactEvent, StatusEvent } from "../../protocol/event.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import { fingerprint } from "./fingerprint.ts";

/**
 * Says where a log entry comes from. It is stored beside the event and read only by a replay. An entry without a note was written by the
 * agent's code outside of steps, and is stored as the code wrote it.
 */
export interface Note {
  /** Written by the engine itself: a status, or a chunk that closes an artifact. A replay ignores the entry. */
  readonly isEngine: boolean;
  /** Content of earlier turns, repeated because the artifact was restarted in this turn. */
  readonly isEarlierTurn: boolean;
  /**
   * On an event that replaces an artifact: how often the agent's code had replaced the artifact in this turn, this time included. 0: only the
   * engine replaced it, to restart it.
   */
  readonly generation: number;
  /** Key of the step that wrote the entry. */
  readonly step: string | undefined;
  /** If the server's `transform` changed the event: fingerprints of what the agent's code wrote. */
  readonly fingerprints: readonly string[] | undefined;
}

/**
 * The stored form: every event of a step has a note, so its names are one letter long.
 *
 * | Letter | Member of {@link Note} | Absent means |
 * |---|---|---|
 * | `e` | `isEngine` | false |
 * | `b` | `isEarlierTurn` | false |
 * | `g` | `generation` | 0 |
 * | `s` | `step` | outside of steps |
 * | `d` | `fingerprints` | the event is as the code wrote it |
 */
interface StoredNote {
  readonly e?: 1;
  readonly b?: 1;
  readonly g?: number;
  readonly s?: string;
  readonly d?: readonly string[];
}

/** The stored note of an entry that the engine wrote. */
export const ENGINE_NOTE = '{"e":1}';

const NO_NOTE: Note = {
  isEngine: false,
  isEarlierTurn: false,
  generation: 0,
  step: undefined,
  fingerprints: undefined,
};

/** `undefined`: the entry needs no note. */
export function writeNote({
  isEngine,
  isEarlierTurn,
  generation,
  step,
  fingerprints,
}: Partial<Note>): string | undefined {
  const stored: StoredNote = {
    ...(isEngine === true && { e: 1 }),
    ...(step !== undefined && { s: step }),
    ...(isEarlierTurn === true && { b: 1 }),
    ...(generation !== undefined && generation > 0 && { g: generation }),
    ...(fingerprints !== undefined && { d: fingerprints }),
  };
  const text = JSON.stringify(stored);
  return text === "{}" ? undefined : text;
}

export function readNote(text: string | undefined): Note {
  if (text === undefined) return NO_NOTE;
  const { e, b, g, s, d } = parseOwnJson<StoredNote>(text);
  return { isEngine: e === 1, isEarlierTurn: b === 1, generation: g ?? 0, step: s, fingerprints: d };
}

export function partFingerprint(part: Part): string {
  return fingerprint(JSON.stringify(part));
}

/** The fingerprint of a status that the agent's code sends. The message's id and time do not count: each attempt has its own. */
export function statusFingerprint(parts: readonly Part[] | undefined, metadata: JsonObject | undefined): string {
  return fingerprint(JSON.stringify([parts ?? [], metadata ?? null]));
}

/** The fingerprint of what the agent's code wrote, for a status in the log. */
export function loggedStatusFingerprint(event: StatusEvent, note: Note): string {
  return note.fingerprints?.[0] ?? statusFingerprint(event.status.message?.parts, event.metadata);
}

/** The fingerprints of what the agent's code wrote, for a chunk in the log. A transform may have made more or fewer parts of it. */
export function loggedPartFingerprints(event: ArtifactEvent, note: Note): readonly string[] {
  return note.fingerprints ?? event.artifact.parts.map(partFingerprint);
}
