import type { ArtifactPiece } from "../../protocol/large-members.ts";
import { isPlainText } from "../../protocol/merged-parts.ts";
import type { Part } from "../../protocol/part.ts";

/** How the stored JSON of a plain text part begins and ends. */
const TEXT_START = '{"text":"';
const TEXT_END = '"}';
const QUOTE = '"';
const BACKSLASH = 92;

/**
 * Merges adjacent plain text parts of an artifact that is read in pieces, like `ArtifactFold`, but without keeping a whole text in memory: the
 * beginning of a text can be taken, and the text continues in the next piece.
 */
export class PieceMerger {
  /** The rest of a text whose beginning was taken. It precedes `#parts`. */
  #rest: ArtifactPiece | undefined;
  #parts: string[] = [];
  /** The plain text at the end, as fragments of a JSON string. */
  #text: string[] = [];
  /** The beginning of that text was taken. */
  #isTextOpen = false;
  #isEmpty = true;
  #hasEmptyText = false;
  #length = 0;

  /** Number of characters that can be taken. */
  get length(): number {
    return this.#length;
  }

  /** Adds parts. `stored`: their stored JSON, separated by commas. */
  add(stored: string): void {
    if (isOnePlainText(stored)) {
      this.#addText(stored.slice(TEXT_START.length, -TEXT_END.length));
      return;
    }
    // Safe: the engine wrote the stored text.
    for (const part of JSON.parse(`[${stored}]`) as readonly Part[]) {
      if (isPlainText(part)) this.#addText(JSON.stringify(part.text).slice(1, -1));
      else this.#addPart(JSON.stringify(part));
    }
  }

  /** Takes everything added so far. A text at the end may continue in the next piece. */
  *take(): Generator<ArtifactPiece> {
    if (this.#rest !== undefined) yield this.#rest;
    this.#rest = undefined;
    if (this.#parts.length > 0) yield { kind: "parts", parts: this.#parts.join(",") };
    this.#parts = [];
    if (this.#text.length > 0) {
      yield { kind: "text", json: this.#text.join("") };
      this.#isTextOpen = true;
    }
    this.#text = [];
    this.#length = 0;
  }

  /** Takes the rest after the last part was added. */
  *takeLast(): Generator<ArtifactPiece> {
    yield* this.take();
    if (this.#isEmpty && this.#hasEmptyText) yield { kind: "parts", parts: '{"text":""}' };
  }

  #addText(json: string): void {
    if (json === "") {
      this.#hasEmptyText = true;
      return;
    }
    this.#text.push(json);
    this.#length += json.length;
    this.#isEmpty = false;
  }

  #addPart(stored: string): void {
    this.#closeText();
    this.#parts.push(stored);
    this.#length += stored.length;
    this.#isEmpty = false;
  }

  #closeText(): void {
    const json = this.#text.join("");
    if (json !== "" && this.#isTextOpen) this.#rest = { kind: "text", json };
    else if (json !== "") this.#parts.push(TEXT_START + json + TEXT_END);
    this.#text = [];
    this.#isTextOpen = false;
  }
}

/** Whether the stored parts are a single plain text. Does not parse them. */
function isOnePlainText(stored: string): boolean {
  if (!stored.startsWith(TEXT_START)) return false;
  let end = stored.indexOf(QUOTE, TEXT_START.length);
  while (end !== -1 && isEscaped(stored, end)) end = stored.indexOf(QUOTE, end + 1);
  return end === stored.length - TEXT_END.length && stored.endsWith(TEXT_END);
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
