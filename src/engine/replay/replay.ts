import type { Artifact } from "../../protocol/artifact.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import type { LogEntry } from "../../store/contract.ts";
import { loggedStatusFingerprint, partFingerprint, readNote } from "../log/note.ts";
import { type Generation, LoggedArtifact } from "./logged-artifact.ts";
import { type ReplaySource, readContent, readStepContent, type StepContent } from "./replay-source.ts";
import { piecesOf, type ReplayedPiece, ReplayedPieces } from "./replayed-pieces.ts";

/** How an artifact begins that is restarted: with all that this attempt has produced of it so far. */
interface Restart {
  /** The artifact's name, description and so on, as the log has them. */
  readonly members: Omit<Artifact, "parts"> | undefined;
  /** Content of the log, to be written again as it is. */
  readonly replayed: readonly ReplayedPiece[];
  /** Parts that this attempt has produced of a piece that it did not finish; to be written after `replayed` as new content. */
  readonly partial: readonly Part[];
  readonly generation: number;
}

/**
 * Compares what this attempt writes with what earlier attempts of the same turn have written, so that nothing is written twice.
 *
 * After a crash the agent's code runs again from the top, and so writes the same content again. For each artifact, the replay holds the
 * pieces in the log and a position. A part that equals the expected piece moves the position on, and is not written. At the end of the log,
 * new parts are appended. At the first difference the artifact is restarted: it is written anew with what this attempt has produced so
 * far, and from then on the attempt's content is appended. Artifacts are compared independently of each other, and so are statuses.
 *
 * Pieces that this attempt will not produce again are skipped: those of earlier turns, and those of steps whose result is stored. A restart that
 * happens before such a step is reached leaves the step's content out; `reachStep` brings it back.
 *
 * Only fingerprints are kept in memory. Contents are read from the log again if an artifact must be restarted.
 * An example is in docs/adr/0033-replay.md.
 */
export class Replay {
  readonly #source: ReplaySource;
  readonly #artifacts = new Map<ArtifactId, LoggedArtifact>();
  /** Fingerprints of the statuses that this attempt has to send next. */
  readonly #expectedStatuses: string[] = [];
  /** Artifacts that are not compared any more: what this attempt writes to them is appended. */
  readonly #pastLog = new Set<ArtifactId>();
  /** By step: artifacts that were restarted without the content of the step, because the step was not reached yet. */
  readonly #leftOut = new Map<string, Set<ArtifactId>>();
  readonly #reachedSteps = new Set<string>();

  constructor(source: ReplaySource) {
    this.#source = source;
  }

  /** Adds the next entry of the turn's log. All must be added before anything is compared. */
  add(entry: LogEntry, event: TaskEvent): void {
    const note = readNote(entry.note);
    const { step, isEarlierTurn, generation } = note;
    if (note.isEngine) return;
    const isExpected = !isEarlierTurn && (step === undefined || !this.#source.isRemembered(step));
    if (event.kind === "status") {
      if (isExpected) this.#expectedStatuses.push(loggedStatusFingerprint(event, note));
      return;
    }
    const id = event.artifact.artifactId;
    const { generations } = this.#artifact(id);
    if (!event.append) {
      // An earlier attempt restarted the artifact, perhaps without the content of a step that it had not reached yet.
      this.#leaveOutSteps(id, generations.splice(generation));
      while (generations.length < generation) generations.push({ pieces: [], isExpected: true, step: undefined });
      generations.push({ pieces: [], isExpected: generation === 0 || isExpected, step });
    }
    if (step !== undefined) this.#leftOut.get(step)?.delete(id);
    for (const { parts, fingerprints } of piecesOf(event, note)) {
      generations.at(-1)?.pieces.push({ fingerprints, partCount: parts.length, isExpected, step, isEarlierTurn });
    }
  }

  /** True: the status is in the log and must not be written. From the first status that differs on, all are written. */
  matchStatus(fingerprint: string): boolean {
    if (this.#expectedStatuses[0] === fingerprint) {
      this.#expectedStatuses.shift();
      return true;
    }
    this.#expectedStatuses.length = 0;
    return false;
  }

  /**
   * Compares parts with the log. `matched`: so many of them, from the first on, are in the log. `diverged`: the log continues with other content, so
   * the artifact must be restarted.
   */
  matchParts(id: ArtifactId, parts: readonly Part[]): { readonly matched: number; readonly diverged: boolean } {
    const artifact = this.#compared(id);
    if (artifact === undefined) return { matched: 0, diverged: false };
    for (const [index, part] of parts.entries()) {
      const expected = artifact.nextExpected();
      if (expected === undefined) {
        // The log ends here, or continues with a replacement.
        const diverged = !artifact.isLastGeneration;
        if (!diverged) this.#pastLog.add(id);
        return { matched: index, diverged };
      }
      if (artifact.expectedFingerprint(expected) !== partFingerprint(part)) return { matched: index, diverged: true };
      artifact.produced(part, expected);
    }
    return { matched: parts.length, diverged: false };
  }

  /** Artifacts of which the log holds more than this attempt has produced. */
  unmatched(): ArtifactId[] {
    return Array.from(this.#artifacts.keys()).filter((id) => this.isBehind(id));
  }

  /** Whether the log holds more of the artifact than this attempt has produced. */
  isBehind(id: ArtifactId): boolean {
    const artifact = this.#compared(id);
    return artifact !== undefined && (artifact.nextExpected() !== undefined || !artifact.isLastGeneration);
  }

  /** The agent's code replaces the artifact. True: the log has a replacement here too, so compare the new content with `matchParts`. */
  matchReplace(id: ArtifactId): boolean {
    const artifact = this.#compared(id);
    if (artifact === undefined) return false;
    // Replacements by steps that are not run again do not count.
    artifact.nextExpected();
    if (artifact.generations[artifact.generation + 1]?.isExpected !== true) return false;
    artifact.moveTo(artifact.generation + 1);
    return true;
  }

  /** The artifact is replaced in a way that the log does not have. Returns the number of the new generation. */
  beginGeneration(id: ArtifactId): number {
    const artifact = this.#artifact(id);
    if (!this.#pastLog.has(id)) this.#leaveOutSteps(id, artifact.laterGenerations);
    this.#pastLog.add(id);
    artifact.moveTo(artifact.generation + 1);
    return artifact.generation;
  }

  /** Ends the comparison for this artifact, and returns the content that it must be written anew with. */
  async restart(id: ArtifactId): Promise<Restart> {
    this.#pastLog.add(id);
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined) return { members: undefined, replayed: [], partial: [], generation: 0 };
    const { generation, position, partial, pieces } = artifact;
    const { members, parts } = await readContent(this.#source, id, generation);
    const replayed = new ReplayedPieces();
    // The content ends with the pieces of this turn; all parts before them are of earlier turns.
    let start = parts.length - pieces.reduce((count, { partCount }) => count + partCount, 0);
    const earlier = parts.slice(0, start);
    replayed.add({ parts: earlier, fingerprints: earlier.map(partFingerprint), isEarlierTurn: true, step: undefined });
    for (const [index, { fingerprints, partCount, isExpected, step, isEarlierTurn }] of pieces.entries()) {
      const piece = { parts: parts.slice(start, start + partCount), fingerprints, isEarlierTurn, step };
      start += partCount;
      if (index < position || isEarlierTurn) replayed.add(piece);
      else if (!isExpected && step !== undefined) {
        if (this.#reachedSteps.has(step)) replayed.add(piece);
        else this.#leaveOut(step, id);
      }
    }
    this.#leaveOutSteps(id, artifact.laterGenerations);
    return { members, replayed: replayed.list, partial, generation };
  }

  /**
   * The agent's code reached a step whose result is stored. Returns what the step wrote to artifacts that were restarted without it, to be written
   * now. `undefined`: nothing.
   */
  reachStep(step: string): Promise<readonly StepContent[]> | undefined {
    this.#reachedSteps.add(step);
    // If the step replaced an artifact, this attempt continues after that replacement, whatever it has produced before.
    for (const [id, artifact] of this.#artifacts) {
      const index = artifact.generations.findLastIndex((each) => !each.isExpected && each.step === step);
      if (index > artifact.generation && !this.#pastLog.has(id)) artifact.moveTo(index);
    }
    const artifacts = this.#leftOut.get(step);
    this.#leftOut.delete(step);
    if (artifacts === undefined || artifacts.size === 0) return undefined;
    return Promise.all(Array.from(artifacts, (id) => readStepContent(this.#source, step, id)));
  }

  /** The artifact, while it is compared with the log. */
  #compared(id: ArtifactId): LoggedArtifact | undefined {
    return this.#pastLog.has(id) ? undefined : this.#artifacts.get(id);
  }

  #artifact(id: ArtifactId): LoggedArtifact {
    let artifact = this.#artifacts.get(id);
    if (artifact === undefined) {
      artifact = new LoggedArtifact();
      this.#artifacts.set(id, artifact);
    }
    return artifact;
  }

  /** These generations are removed from the artifact. Content of stored steps in them is written again when the steps are reached. */
  #leaveOutSteps(id: ArtifactId, generations: readonly Generation[]): void {
    for (const { pieces } of generations)
      for (const { isExpected, step } of pieces) if (!isExpected && step !== undefined) this.#leaveOut(step, id);
  }

  #leaveOut(step: string, id: ArtifactId): void {
    const artifacts = this.#leftOut.get(step) ?? new Set<ArtifactId>();
    this.#leftOut.set(step, artifacts);
    artifacts.add(id);
  }
}
