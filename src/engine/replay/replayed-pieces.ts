import type { ArtifactEvent } from "../../protocol/event.ts";
import type { Part } from "../../protocol/part.ts";
import { loggedPartFingerprints, type Note } from "../log/note.ts";

/** Parts as the log has them, with the fingerprints of what the agent's code wrote. */
export interface FingerprintedParts {
  readonly parts: readonly Part[];
  /** One for each part, unless a transform made more or fewer parts. */
  readonly fingerprints: readonly string[];
}

/** Content of the log that a restart writes again, all of one origin. */
export interface ReplayedPiece extends FingerprintedParts {
  readonly isEarlierTurn: boolean;
  readonly step: string | undefined;
}

/** Collects content for a restart. Adjacent content of the same origin becomes one piece. */
export class ReplayedPieces {
  readonly list: Array<ReplayedPiece & { readonly parts: Part[]; readonly fingerprints: string[] }> = [];

  add(piece: ReplayedPiece): void {
    if (piece.parts.length === 0 && piece.fingerprints.length === 0) return;
    const last = this.list.at(-1);
    if (last !== undefined && haveOneOrigin(last, piece) && isAligned(last) && isAligned(piece)) {
      for (const part of piece.parts) last.parts.push(part);
      for (const fingerprint of piece.fingerprints) last.fingerprints.push(fingerprint);
    } else this.list.push({ ...piece, parts: [...piece.parts], fingerprints: [...piece.fingerprints] });
  }
}

/** The smallest pieces of an event that can be compared: its parts; or the event as a whole, if a transform changed their number. */
export function piecesOf(event: ArtifactEvent, note: Note): FingerprintedParts[] {
  const { parts } = event.artifact;
  const fingerprints = loggedPartFingerprints(event, note);
  if (fingerprints.length !== parts.length) return [{ parts, fingerprints }];
  return parts.map((part, index) => ({ parts: [part], fingerprints: fingerprints.slice(index, index + 1) }));
}

/** Splits a piece into events of about `bytes` bytes. A piece that is not aligned stays whole. */
export function* splitPiece(piece: ReplayedPiece, bytes: number): Generator<FingerprintedParts> {
  if (!isAligned(piece)) {
    yield piece;
    return;
  }
  let first = 0;
  let size = 0;
  for (const [index, part] of piece.parts.entries()) {
    const length = JSON.stringify(part).length;
    if (index > first && size + length > bytes) {
      yield slice(piece, first, index);
      first = index;
      size = 0;
    }
    size += length;
  }
  if (first < piece.parts.length) yield slice(piece, first, piece.parts.length);
}

function slice({ parts, fingerprints }: ReplayedPiece, from: number, to: number): FingerprintedParts {
  return { parts: parts.slice(from, to), fingerprints: fingerprints.slice(from, to) };
}

/** Each fingerprint belongs to the part of the same index. */
function isAligned({ parts, fingerprints }: FingerprintedParts): boolean {
  return parts.length === fingerprints.length;
}

function haveOneOrigin(one: ReplayedPiece, other: ReplayedPiece): boolean {
  return one.isEarlierTurn === other.isEarlierTurn && one.step === other.step;
}
