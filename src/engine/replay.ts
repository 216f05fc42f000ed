import type { ArtifactId } from "../protocol/ids.ts";
import type { Part } from "../protocol/part.ts";
import { readEvent } from "../protocol/serial.ts";
import type { LogEntry } from "../store/contract.ts";
import { loggedPartFingerprints, loggedStatusFingerprint, readNote } from "./note.ts";

/** One part of an artifact as the log has it. */
interface LoggedPart {
  readonly fingerprint: string;
  /** Nobody will write it again: it is of an earlier turn, or of a step whose result is remembered. */
  readonly given: boolean;
  readonly step: string | undefined;
  readonly base: boolean;
}

interface LoggedArtifact {
  parts: LoggedPart[];
  /** How many of them this attempt has accounted for. */
  matched: number;
}

/** Content that a restarted artifact begins with, in pieces of one origin each. */
export interface KeptPiece {
  readonly parts: readonly Part[];
  readonly base: boolean;
  readonly step: string | undefined;
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
  /** What remembered steps wrote to an artifact that was restarted before they were reached. */
  readonly #owed = new Map<string, Map<ArtifactId, Part[]>>();
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
    const id = event.artifact.artifactId;
    let artifact = this.#artifacts.get(id);
    if (artifact === undefined || !event.append) {
      artifact = { parts: [], matched: 0 };
      this.#artifacts.set(id, artifact);
    }
    for (const fingerprint of loggedPartFingerprints(event, note)) {
      artifact.parts.push({ fingerprint, given, step: note.s, base: note.b === 1 });
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
  matchParts(id: ArtifactId, fingerprints: readonly string[]): { readonly matched: number; readonly diverged: boolean } {
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined || this.#own.has(id)) return { matched: 0, diverged: false };
    let matched = 0;
    for (const fingerprint of fingerprints) {
      skipGiven(artifact);
      const logged = artifact.parts[artifact.matched];
      if (logged === undefined) {
        this.#own.add(id);
        return { matched, diverged: false };
      }
      if (logged.fingerprint !== fingerprint) return { matched, diverged: true };
      artifact.matched++;
      matched++;
    }
    return { matched, diverged: false };
  }

  /** Artifacts of which the log holds more than this attempt has produced. */
  unmatched(): ArtifactId[] {
    const ids: ArtifactId[] = [];
    for (const [id, artifact] of this.#artifacts) {
      skipGiven(artifact);
      if (!this.#own.has(id) && artifact.matched < artifact.parts.length) ids.push(id);
    }
    return ids;
  }

  /** Takes the artifact over, and tells what it must begin with: all that this attempt has produced of it so far. */
  async restart(id: ArtifactId): Promise<KeptPiece[]> {
    this.#own.add(id);
    const artifact = this.#artifacts.get(id);
    if (artifact === undefined) return [];
    const contents = await this.#contents(id);
    const before = contents.length - artifact.parts.length;
    const pieces = new Pieces();
    pieces.add(contents.slice(0, before), { base: true, step: undefined });
    for (const [index, logged] of artifact.parts.entries()) {
      const part = contents[before + index];
      if (part === undefined) continue;
      const { step } = logged;
      const behind = index >= artifact.matched;
      if (!behind || logged.base || (logged.given && step !== undefined && this.#passed.has(step))) pieces.add([part], logged);
      else if (logged.given && step !== undefined) this.#owe(step, id, part);
    }
    return pieces.list;
  }

  /** A remembered step was reached: what it wrote to artifacts restarted since. */
  passStep(step: string): ReadonlyMap<ArtifactId, readonly Part[]> {
    this.#passed.add(step);
    const owed = this.#owed.get(step) ?? new Map();
    this.#owed.delete(step);
    return owed;
  }

  #owe(step: string, id: ArtifactId, part: Part): void {
    const artifacts = this.#owed.get(step) ?? new Map<ArtifactId, Part[]>();
    this.#owed.set(step, artifacts);
    artifacts.set(id, [...(artifacts.get(id) ?? []), part]);
  }

  async #contents(id: ArtifactId): Promise<Part[]> {
    let parts: Part[] = [];
    for await (const entry of this.#source.entries(0, this.#source.upTo)) {
      if (!entry.body.includes(id)) continue;
      const event = readEvent(entry.body);
      if (event.kind !== "artifact" || event.artifact.artifactId !== id) continue;
      if (!event.append) parts = [];
      parts.push(...event.artifact.parts);
    }
    return parts;
  }
}

function skipGiven(artifact: LoggedArtifact): void {
  while (artifact.parts[artifact.matched]?.given === true) artifact.matched++;
}

/** Gathers parts, one piece for each run of the same origin. */
class Pieces {
  readonly list: Array<KeptPiece & { readonly parts: Part[] }> = [];

  add(parts: readonly Part[], origin: { readonly base: boolean; readonly step: string | undefined }): void {
    if (parts.length === 0) return;
    const last = this.list.at(-1);
    if (last !== undefined && last.base === origin.base && last.step === origin.step) last.parts.push(...parts);
    else this.list.push({ parts: [...parts], base: origin.base, step: origin.step });
  }
}
