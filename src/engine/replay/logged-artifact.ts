import type { Part } from "../../protocol/part.ts";

/**
 * A piece of an artifact in the log, the unit of comparison. It is one part; or a whole event, if a transform made more or fewer parts of it
 * than the agent's code wrote.
 */
export interface LoggedPiece {
  /** Fingerprints of the parts as the agent's code wrote them. */
  readonly fingerprints: readonly string[];
  /** Number of parts in the log. */
  readonly partCount: number;
  /** This attempt has to produce the piece again. False for content of earlier turns, and of steps whose result is stored. */
  readonly isExpected: boolean;
  readonly step: string | undefined;
  readonly isEarlierTurn: boolean;
}

/** The content of an artifact from one replacement by the agent's code to the next. */
export interface Generation {
  readonly pieces: LoggedPiece[];
  /** This attempt has to make the replacement that begins the generation. False if a step made it whose result is stored. */
  readonly isExpected: boolean;
  readonly step: string | undefined;
}

/** What the log holds of one artifact in this turn, and how far this attempt has produced it again. */
export class LoggedArtifact {
  /** The first holds the content before the agent's code replaced anything in this turn. Never empty. */
  readonly generations: Generation[] = [{ pieces: [], isExpected: true, step: undefined }];
  #generation = 0;
  #position = 0;
  /** The parts of the piece at the position that this attempt has produced so far. */
  #partial: Part[] = [];

  /** Index of the generation that this attempt has reached. */
  get generation(): number {
    return this.#generation;
  }

  /** Number of pieces of that generation that are matched or skipped. */
  get position(): number {
    return this.#position;
  }

  get partial(): readonly Part[] {
    return this.#partial;
  }

  /** The pieces of the generation that this attempt has reached. */
  get pieces(): readonly LoggedPiece[] {
    return this.generations[this.#generation]?.pieces ?? [];
  }

  /** The generations in the log that this attempt has not reached. */
  get laterGenerations(): readonly Generation[] {
    return this.generations.slice(this.#generation + 1);
  }

  get isLastGeneration(): boolean {
    return this.#generation >= this.generations.length - 1;
  }

  /** The next piece that this attempt has to produce. `undefined`: the generation ends here. */
  nextExpected(): LoggedPiece | undefined {
    this.#skipUnexpected();
    return this.pieces[this.#position];
  }

  /** The fingerprint of the part that has to come next in this piece. */
  expectedFingerprint(piece: LoggedPiece): string | undefined {
    return piece.fingerprints[this.#partial.length];
  }

  /** This attempt has produced the next part of the piece. */
  produced(part: Part, piece: LoggedPiece): void {
    this.#partial.push(part);
    if (this.#partial.length < piece.fingerprints.length) return;
    this.#partial = [];
    this.#position++;
  }

  moveTo(generation: number): void {
    this.#generation = generation;
    this.#position = 0;
    this.#partial = [];
  }

  /** Passes over content, and replacements, that this attempt does not produce again. */
  #skipUnexpected(): void {
    for (;;) {
      const { pieces } = this;
      while (pieces[this.#position]?.isExpected === false) this.#position++;
      if (this.#position !== pieces.length) return;
      if (this.generations[this.#generation + 1]?.isExpected !== false) return;
      this.moveTo(this.#generation + 1);
    }
  }
}
