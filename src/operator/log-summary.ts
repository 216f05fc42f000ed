import type { Artifact } from "../protocol/artifact.ts";
import type { Part } from "../protocol/part.ts";
import { readEvent, textChunkStart, textOfChunk } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { LogEntry } from "../store/contract.ts";
import { BoundedArtifacts } from "./bounded-artifacts.ts";

/** A status, or the chunks of one artifact in a row. */
export interface SummaryRow {
  readonly kind: "status" | "artifact";
  readonly first: number;
  readonly last: number;
  /** The beginning of the status message, or the name of the artifact. */
  readonly text: string;
  readonly state?: TaskState;
  /** Of a status, in milliseconds since 1970. Chunks have no time of their own. */
  readonly at?: number;
  readonly artifactId?: string;
  readonly chunks?: number;
  /** Characters of all chunks. */
  readonly characters?: number;
}

/** A stretch of the log and how many characters artifacts got in it. */
export interface WrittenPiece {
  readonly first: number;
  readonly last: number;
  readonly characters: number;
}

/** An event whose time is known. */
export interface KnownTime {
  readonly seq: number;
  readonly at: number;
}

/** What grows while the log is read. */
type Growing<T> = { -readonly [Member in keyof T]: T[Member] };

/** Rows of a summary; a log with more of them is read by seq. */
export const MAX_ROWS = 1000;
/** Rows of the first events, each event its own, for a page that shows a log with more than {@link MAX_ROWS}. */
const MAX_FIRST = 200;
const MAX_WRITTEN = 256;
const MAX_TIMES = 256;
const MAX_TEXT = 200;

/**
 * The log of a task, whatever its length, as a bounded number of items. Entries are added in order; entries that were added before are skipped, so a
 * summary grows with its log without reading it again.
 */
export class LogSummary {
  readonly #artifacts = new BoundedArtifacts();
  #rows: SummaryRow[] | undefined = [];
  #rowCount = 0;
  readonly #firstRows: SummaryRow[] = [];
  /** The last row, also if the rows are too many to be kept. */
  #row: Growing<SummaryRow> | undefined;
  /** How further chunks of the last row begin, if most of them are of text alone. */
  #chunkStart: string | undefined;
  #written: Growing<WrittenPiece>[] = [];
  #pieceLength = 1;
  #times: KnownTime[] = [];
  /** Of these many statuses, one is kept in `#times`. */
  #timeStep = 1;
  #statuses = 0;
  #state: TaskState = "submitted";
  #lastSeq = 0;

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get state(): TaskState {
    return this.#state;
  }

  /** `undefined`: there are more than {@link MAX_ROWS}. */
  get rows(): readonly SummaryRow[] | undefined {
    if (this.#rows === undefined) return undefined;
    return this.#row === undefined ? this.#rows : [...this.#rows, { ...this.#row }];
  }

  /** The first events, each as a row of its own: what a page shows first if there are too many rows. */
  get firstRows(): readonly SummaryRow[] {
    return this.#firstRows;
  }

  get rowCount(): number {
    return this.#rowCount;
  }

  get written(): readonly WrittenPiece[] {
    return this.#written;
  }

  /** Some events whose times are known, in order; the last one is always among them. */
  get times(): readonly KnownTime[] {
    return this.#times;
  }

  /** The artifacts as of the last entry; long ones are cut. */
  get artifacts(): readonly object[] {
    return this.#artifacts.list();
  }

  add(entry: LogEntry): void {
    const { seq } = entry;
    if (seq <= this.#lastSeq) return;
    this.#lastSeq = seq;
    if (this.#addText(entry)) return;
    const event = readEvent(entry.body);
    if (event.kind === "artifact") {
      this.#artifacts.add(event);
      this.#addChunk(seq, event.artifact, event.append);
      return;
    }
    const { state, message, timestamp } = event.status;
    const at = Date.parse(timestamp ?? "");
    this.#state = state;
    if (!Number.isNaN(at)) this.#addTime({ seq, at });
    const text = textOf(message?.parts ?? []);
    const row: SummaryRow = { kind: "status", first: seq, last: seq, text, state, ...(!Number.isNaN(at) && { at }) };
    this.#addFirst(row);
    this.#begin(row);
  }

  /** Most events append a text to the artifact of the last row: they are added without parsing the whole event. */
  #addText({ seq, body }: LogEntry): boolean {
    const artifactId = this.#row?.artifactId;
    if (artifactId === undefined || this.#chunkStart === undefined) return false;
    const text = textOfChunk(body, this.#chunkStart);
    if (text === undefined) return false;
    this.#artifacts.addText(artifactId, text);
    if (this.#firstRows.length < MAX_FIRST) this.#addFirst(chunkRow(seq, { artifactId, characters: text.length }));
    this.#grow(seq, text.length);
    return true;
  }

  #addChunk(seq: number, { artifactId, name, parts }: Artifact, append: boolean): void {
    const characters = charactersOf(parts);
    const ownRow = chunkRow(seq, { artifactId, name, characters });
    this.#addFirst(ownRow);
    if (this.#row?.artifactId === artifactId && append) {
      // Its chunks are of another kind.
      this.#chunkStart = undefined;
      this.#grow(seq, characters);
      return;
    }
    this.#begin(ownRow);
    this.#addWritten(seq, characters);
    this.#chunkStart = textChunkStart(artifactId);
  }

  #addFirst(row: SummaryRow): void {
    if (this.#firstRows.length < MAX_FIRST) this.#firstRows.push(row);
  }

  /** A further chunk of the last row. */
  #grow(seq: number, characters: number): void {
    this.#addWritten(seq, characters);
    const row = this.#row;
    if (row === undefined) return;
    row.last = seq;
    row.chunks = (row.chunks ?? 0) + 1;
    row.characters = (row.characters ?? 0) + characters;
  }

  #begin(row: SummaryRow): void {
    if (this.#row !== undefined) this.#rows?.push(this.#row);
    this.#row = { ...row };
    this.#chunkStart = undefined;
    this.#rowCount += 1;
    if (this.#rowCount > MAX_ROWS) this.#rows = undefined;
  }

  /** When there are too many pieces, two become one. */
  #addWritten(seq: number, characters: number): void {
    const last = this.#written.at(-1);
    if (last !== undefined && seq < last.first + this.#pieceLength) {
      last.last = seq;
      last.characters += characters;
      return;
    }
    this.#written.push({ first: seq, last: seq, characters });
    if (this.#written.length <= MAX_WRITTEN) return;
    this.#pieceLength *= 2;
    const joined: Growing<WrittenPiece>[] = [];
    for (const piece of this.#written) {
      const before = joined.at(-1);
      if (before !== undefined && piece.last < before.first + this.#pieceLength) {
        before.last = piece.last;
        before.characters += piece.characters;
      } else joined.push(piece);
    }
    this.#written = joined;
  }

  /** When there are too many times, every second one is dropped. */
  #addTime(time: KnownTime): void {
    const isKept = this.#statuses % this.#timeStep === 0;
    this.#statuses += 1;
    // The newest one is always there: it replaces one that is not kept.
    const last = this.#times.at(-1);
    if (last !== undefined && !this.#lastIsKept) this.#times.pop();
    this.#times.push(time);
    this.#lastIsKept = isKept;
    if (this.#times.length <= MAX_TIMES) return;
    this.#timeStep *= 2;
    this.#times = this.#times.filter((_, index) => index % 2 === 0 || index === this.#times.length - 1);
  }
  #lastIsKept = true;
}

interface Chunk {
  readonly artifactId: string;
  readonly name?: string | undefined;
  readonly characters: number;
}

function chunkRow(seq: number, { artifactId, name, characters }: Chunk): SummaryRow {
  const text = (name ?? artifactId).slice(0, MAX_TEXT);
  return { kind: "artifact", first: seq, last: seq, text, artifactId, chunks: 1, characters };
}

function textOf(parts: readonly Part[]): string {
  const text = parts.map((part) => part.text ?? "").join("");
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

/** Characters of text, of data as JSON, and of files in base64. */
export function charactersOf(parts: readonly Part[]): number {
  let sum = 0;
  for (const { text, raw, data } of parts) {
    if (text !== undefined) sum += text.length;
    else if (raw !== undefined) sum += raw.length;
    else if (data !== undefined) sum += JSON.stringify(data).length;
  }
  return sum;
}
