import type { Artifact } from "../../protocol/artifact.ts";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { Part } from "../../protocol/part.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { LogEntry } from "../../store/contract.ts";
import { loggedPartFingerprints, loggedStatusFingerprint, type Note, partFingerprint, readNote } from "../log/note.ts";

/**
 * What the log has of an artifact, in the smallest pieces that can be told apart: one part each, or a whole event where a
 * transform made more or fewer parts of what the author wrote.
 */
interface LoggedPiece {
  /** Of what the author wrote. */
  readonly fingerprints: readonly string[];
  /** How many parts it is in the log. */
  readonly size: number;
  /** Nobody will write it again: it is of an earlier turn, or of a step whose result is remembered. */
  readonly given: boolean;
  readonly step: string | undefined;
  readonly base: boolean;
}

/** What an artifact held from one replacement by its author to the next. */
interface Generation {
  readonly pieces: LoggedPiece[];
  /** It was a remembered step that replaced what was before: nobody will do so again. */
  readonly given: boolean;
  readonly step: string | undefined;
}

interface LoggedArtifact {
  /** The first is what there was before the author replaced anything in this turn. Never empty. */
  readonly generations: Generation[];
  /** The generation that this attempt has come to. */
  at: number;
  /** How many pieces of it this attempt has accounted for. */
  matched: number;
  /** What this attempt has written of the piece it is in the middle of. */
  begun: Part[];
}

/** Content to be written again as it is in the log, of one origin. */
export interface KeptPiece {
  readonly parts: readonly Part[];
  /** Of what the author wrote; one for each part, unless a transform made more or fewer of it. */
  readonly fingerprints: readonly string[];
  readonly base: boolean;
  readonly step: string | undefined;
}

/** What a restarted artifact begins with: all that this attempt has produced of it so far. */
interface Restart {
  /** The artifact's name and other particulars, as the log has them. */
  readonly particulars: Omit<Artifact, "parts"> | undefined;
  readonly kept: readonly KeptPiece[];
  /** To be written after that, as if it came now. */
  readonly begun: readonly Part[];
  readonly generation: number;
}

interface OwedContent {
  readonly id: ArtifactId;
  readonly kept: readonly KeptPiece[];
  /** It goes in the place of what is there. */
  readonly replaces: boolean;
}

export interface ReplaySource {
  /** All entries of the task's log from `after` on, up to `upTo`. */
  entries(after: number, upTo: number): AsyncIterable<LogEntry>;
  readonly turnAfter: number;
  readonly upTo: number;
  isRemembered(step: string): boolean;
}

/**
 * What the attempts before this one have written in this turn, to be compared with what this one writes. Only fingerprints
 * are held; contents are read again in the rare case that an artifact must be restarted.
 */
export class Replay {
  readonly #source: ReplaySource;
  readonly #artifacts = new Map<ArtifactId, LoggedArtifact>();
  readonly #statuses: string[] = [];
  /** Artifacts that this attempt has taken over: what it writes to them is written. */
  readonly #own = new Set<ArtifactId>();
  /** Remembered steps not reached yet, and the artifacts whose last restart left out what they wrote. */
  readonly #owed = new Map<string, Set<ArtifactId>>();
  readonly #passed = new Set<string>();

  private constructor(source: ReplaySource) {
    this.#source = source;
  }

  static async read(source: ReplaySource): Promise<Replay> {
    const replay = new Replay(source);
    for await (const entry of source.entries(source.turnAfter, source.upTo)) replay.#add(entry);
    return replay;
  }

  #add(entry: LogEntry): void {
    const event = readEvent(entry.body);
    const note = readNote(entry.note);
    const given = note.b === 1 || (note.s !== undefined && this.#source.isRemembered(note.s));
    if (event.kind === "status") {
      if (note.e === undefined && !given) this.#statuses.push(loggedStatusFingerprint(event, note));
      return;
    }
    // A closing chunk.
    if (note.e === 1) return;
    const id = event.artifact.artifactId;
    const artifact = this.#artifact(id);
    if (!event.append) {
      const generation = note.g ?? 0;
      // An earlier attempt restarted it, perhaps without what a step wrote that it had not reached yet.
      this.#oweAll(id, artifact.generations.splice(generation));
      while (artifact.generations.length < generation) artifact.generations.push(newGeneration());
      artifact.generations.push({ pieces: [], given: generation > 0 && given, step: note.s });
    }
    if (note.s !== undefined) this.#owed.get(note.s)?.delete(id);
    for (const piece of piecesOf(event, note)) {
      artifact.generations.at(-1)?.pieces.push({
        fingerprints: piece.fingerprints,
        size: piece.parts.length,
        given,
        step: note.s,
        base: note.b === 1,
      });
    }
  }

  /** True: this status is in the log already. */
  matchStatus(fingerprint: string): boolean {
    if (this.#statuses[0] === fingerprint) {
      this.#statuses.shift();
      return true;
    }
    // From the first difference on, what is told is told.
    this.#statuses.length = 0;
    return false;
  }

  /** How many of these parts, from the first on, are in the log already, and whether the log went on differently. */
  matchParts(id: ArtifactId, parts: readonly Part[]): { readonly matched: number; readonly diverged: boolean } {
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined || this.#own.has(id)) return { matched: 0, diverged: false };
    for (const [index, part] of parts.entries()) {
      skipGiven(artifact);
      const logged = piecesAt(artifact)[artifact.matched];
      if (logged === undefined) {
        // In the log it was replaced at this point.
        if (artifact.at < artifact.generations.length - 1) return { matched: index, diverged: true };
        this.#own.add(id);
        return { matched: index, diverged: false };
      }
      if (logged.fingerprints[artifact.begun.length] !== partFingerprint(part))
        return { matched: index, diverged: true };
      artifact.begun.push(part);
      if (artifact.begun.length < logged.fingerprints.length) continue;
      artifact.begun = [];
      artifact.matched++;
    }
    return { matched: parts.length, diverged: false };
  }

  /** Artifacts of which the log holds more than this attempt has produced. */
  unmatched(): ArtifactId[] {
    return Array.from(this.#artifacts.keys()).filter((id) => this.isBehind(id));
  }

  /** Whether the log holds more of the artifact than this attempt has produced. */
  isBehind(id: ArtifactId): boolean {
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined || this.#own.has(id)) return false;
    skipGiven(artifact);
    const { at, matched, generations } = artifact;
    return matched < piecesAt(artifact).length || at < generations.length - 1;
  }

  /** The author replaces the artifact. True: so it was in the log, and what replaces it is to be compared. */
  reachReplace(id: ArtifactId): boolean {
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined || this.#own.has(id)) return false;
    skipGiven(artifact);
    const next = artifact.generations[artifact.at + 1];
    if (next === undefined || next.given) return false;
    moveTo(artifact, artifact.at + 1);
    return true;
  }

  /** Takes the artifact over, because it is replaced as the log does not have it. Gives the number of its generation. */
  replace(id: ArtifactId): number {
    const artifact = this.#artifact(id);
    if (!this.#own.has(id)) this.#oweAll(id, artifact.generations.slice(artifact.at + 1));
    this.#own.add(id);
    moveTo(artifact, artifact.at + 1);
    return artifact.at;
  }

  /** Takes the artifact over, and tells what it must begin with. */
  async restart(id: ArtifactId): Promise<Restart> {
    this.#own.add(id);
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined) return { particulars: undefined, kept: [], begun: [], generation: 0 };
    const { at, begun } = artifact;
    const { particulars, parts } = await this.#contents(id, at);
    const kept = new KeptPieces();
    const pieces = piecesAt(artifact);
    let position = parts.length - pieces.reduce((size, piece) => size + piece.size, 0);
    const before = parts.slice(0, position);
    kept.add({ parts: before, fingerprints: before.map(partFingerprint), base: true, step: undefined });
    for (const [index, { fingerprints, size, given, step, base }] of pieces.entries()) {
      const piece = { parts: parts.slice(position, position + size), fingerprints, base, step };
      position += size;
      if (index < artifact.matched || base) kept.add(piece);
      else if (given && step !== undefined) {
        if (this.#passed.has(step)) kept.add(piece);
        else this.#owe(step, id);
      }
    }
    this.#oweAll(id, artifact.generations.slice(at + 1));
    return { particulars, kept: kept.list, begun, generation: at };
  }

  /** A remembered step was reached: what it wrote to artifacts that were restarted without it. `undefined`: nothing. */
  passStep(step: string): Promise<readonly OwedContent[]> | undefined {
    this.#passed.add(step);
    // What it replaced is replaced, whatever this attempt has made of it.
    for (const [id, artifact] of this.#artifacts) {
      const index = artifact.generations.findLastIndex((generation) => generation.given && generation.step === step);
      if (index > artifact.at && !this.#own.has(id)) moveTo(artifact, index);
    }
    const owed = this.#owed.get(step);
    this.#owed.delete(step);
    if (owed === undefined || owed.size === 0) return undefined;
    return Promise.all(Array.from(owed, (id) => this.#writtenBy(step, id)));
  }

  #artifact(id: ArtifactId): LoggedArtifact {
    let artifact = this.#artifacts.get(id);
    if (artifact === undefined) {
      artifact = { generations: [newGeneration()], at: 0, matched: 0, begun: [] };
      this.#artifacts.set(id, artifact);
    }
    return artifact;
  }

  /** These are gone from the artifact: what remembered steps wrote of them comes back when those are reached. */
  #oweAll(id: ArtifactId, generations: readonly Generation[]): void {
    for (const { pieces } of generations)
      for (const { given, step } of pieces) if (given && step !== undefined) this.#owe(step, id);
  }

  #owe(step: string, id: ArtifactId): void {
    const artifacts = this.#owed.get(step) ?? new Set<ArtifactId>();
    this.#owed.set(step, artifacts);
    artifacts.add(id);
  }

  /** What the artifact held when that generation was its last. */
  async #contents(
    id: ArtifactId,
    generation: number,
  ): Promise<{ readonly particulars: Omit<Artifact, "parts"> | undefined; readonly parts: Part[] }> {
    const generations: Part[][] = [[]];
    let particulars: Omit<Artifact, "parts"> | undefined;
    for await (const { event, note, seq } of this.#eventsOf(id, 0)) {
      const { parts: added, ...others } = event.artifact;
      if (!event.append) {
        const begins = seq > this.#source.turnAfter ? (note.g ?? 0) : 0;
        generations.length = Math.min(generations.length, begins);
        while (generations.length <= begins) generations.push([]);
      }
      particulars = event.append ? { ...particulars, ...others } : others;
      for (const part of added) generations.at(-1)?.push(part);
    }
    return { particulars, parts: generations[generation] ?? [] };
  }

  /** What the step wrote when it last did. A step of the same name in an earlier turn was another one. */
  async #writtenBy(step: string, id: ArtifactId): Promise<OwedContent> {
    let kept = new KeptPieces();
    let isOlder = false;
    let replaces = false;
    for await (const { event, note } of this.#eventsOf(id, this.#source.turnAfter)) {
      if (!event.append) isOlder = true;
      if (note.s !== step) continue;
      if (isOlder) {
        kept = new KeptPieces();
        replaces = !event.append && (note.g ?? 0) > 0;
      }
      isOlder = false;
      for (const piece of piecesOf(event, note)) kept.add({ ...piece, base: false, step });
    }
    return { id, kept: kept.list, replaces };
  }

  async *#eventsOf(
    id: ArtifactId,
    after: number,
  ): AsyncGenerator<{ readonly event: ArtifactEvent; readonly note: Note; readonly seq: number }> {
    const spelled = JSON.stringify(id);
    for await (const entry of this.#source.entries(after, this.#source.upTo)) {
      if (!entry.body.includes(spelled)) continue;
      const event = readEvent(entry.body);
      if (event.kind !== "artifact" || event.artifact.artifactId !== id) continue;
      const note = readNote(entry.note);
      if (note.e !== 1) yield { event, note, seq: entry.seq };
    }
  }
}

function piecesOf(
  event: ArtifactEvent,
  note: Note,
): { readonly parts: readonly Part[]; readonly fingerprints: readonly string[] }[] {
  const { parts } = event.artifact;
  const fingerprints = loggedPartFingerprints(event, note);
  if (fingerprints.length !== parts.length) return [{ parts, fingerprints }];
  return parts.map((part, index) => ({ parts: [part], fingerprints: fingerprints.slice(index, index + 1) }));
}

function newGeneration(): Generation {
  return { pieces: [], given: false, step: undefined };
}

function piecesAt({ generations, at }: LoggedArtifact): readonly LoggedPiece[] {
  return generations[at]?.pieces ?? [];
}

function moveTo(artifact: LoggedArtifact, generation: number): void {
  artifact.at = generation;
  artifact.matched = 0;
  artifact.begun = [];
}

function skipGiven(artifact: LoggedArtifact): void {
  for (;;) {
    const pieces = piecesAt(artifact);
    while (pieces[artifact.matched]?.given === true) artifact.matched++;
    const isLeft = artifact.matched === pieces.length && artifact.generations[artifact.at + 1]?.given === true;
    if (!isLeft) return;
    moveTo(artifact, artifact.at + 1);
  }
}

/** Gathers content, one piece for each run of the same origin. */
class KeptPieces {
  readonly list: Array<KeptPiece & { readonly parts: Part[]; readonly fingerprints: string[] }> = [];

  add(piece: KeptPiece): void {
    if (piece.parts.length === 0 && piece.fingerprints.length === 0) return;
    const last = this.list.at(-1);
    if (
      last !== undefined &&
      last.base === piece.base &&
      last.step === piece.step &&
      isAligned(last) &&
      isAligned(piece)
    ) {
      for (const part of piece.parts) last.parts.push(part);
      for (const fingerprint of piece.fingerprints) last.fingerprints.push(fingerprint);
    } else this.list.push({ ...piece, parts: [...piece.parts], fingerprints: [...piece.fingerprints] });
  }
}

/** Each fingerprint stands for the part at its place. */
export function isAligned(piece: KeptPiece): boolean {
  return piece.parts.length === piece.fingerprints.length;
}
