import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { LogEntry } from "../../store/contract.ts";
import { type Note, readNote } from "../log/note.ts";
import { piecesOf, type ReplayedPiece, ReplayedPieces } from "./replayed-pieces.ts";

/** The log that an attempt is compared with. */
export interface ReplaySource {
  /** The entries after the seq `after`, up to and including `upTo`. */
  entries(after: number, upTo: number): AsyncIterable<LogEntry>;
  /** The last seq before the turn. */
  readonly turnAfter: number;
  /** The last seq that earlier attempts wrote. */
  readonly upTo: number;
  /** The result of the step is stored, so the step is not run again. */
  isRemembered(step: string): boolean;
}

/** An artifact's content as of one generation, and its name, description and so on. */
export interface LoggedContent {
  readonly members: Omit<Artifact, "parts"> | undefined;
  readonly parts: readonly Part[];
}

/** What a step wrote to an artifact. */
export interface StepContent {
  readonly id: ArtifactId;
  readonly pieces: readonly ReplayedPiece[];
  /** The step replaced what the artifact held before. */
  readonly replaces: boolean;
}

/** Reads the content that the artifact had at the end of a generation, earlier turns included. */
export async function readContent(source: ReplaySource, id: ArtifactId, generation: number): Promise<LoggedContent> {
  const generations: Part[][] = [[]];
  let members: Omit<Artifact, "parts"> | undefined;
  for await (const { event, note, seq } of artifactEvents(source, id, 0)) {
    const { parts, ...others } = event.artifact;
    if (!event.append) {
      // Generations count from the beginning of the turn.
      const begun = seq > source.turnAfter ? note.generation : 0;
      generations.length = Math.min(generations.length, begun);
      while (generations.length <= begun) generations.push([]);
    }
    members = event.append ? { ...members, ...others } : others;
    for (const part of parts) generations.at(-1)?.push(part);
  }
  return { members, parts: generations[generation] ?? [] };
}

/**
 * Reads what a step of this turn wrote to an artifact. If restarts repeated it, the last repetition counts. A step with the same key in an earlier
 * turn is another step.
 */
export async function readStepContent(source: ReplaySource, step: string, id: ArtifactId): Promise<StepContent> {
  let pieces = new ReplayedPieces();
  let isReplaced = false;
  let replaces = false;
  for await (const { event, note } of artifactEvents(source, id, source.turnAfter)) {
    if (!event.append) isReplaced = true;
    if (note.step !== step) continue;
    if (isReplaced) {
      pieces = new ReplayedPieces();
      replaces = !event.append && note.generation > 0;
    }
    isReplaced = false;
    for (const piece of piecesOf(event, note)) pieces.add({ ...piece, isEarlierTurn: false, step });
  }
  return { id, pieces: pieces.list, replaces };
}

async function* artifactEvents(
  source: ReplaySource,
  id: ArtifactId,
  after: number,
): AsyncGenerator<{ readonly event: ArtifactEvent; readonly note: Note; readonly seq: number }> {
  // Searching the text is cheaper than parsing the events of all other artifacts.
  const idText = JSON.stringify(id);
  for await (const entry of source.entries(after, source.upTo)) {
    if (!entry.body.includes(idText)) continue;
    const event = readEvent(entry.body);
    if (event.kind !== "artifact" || event.artifact.artifactId !== id) continue;
    const note = readNote(entry.note);
    if (!note.isEngine) yield { event, note, seq: entry.seq };
  }
}
