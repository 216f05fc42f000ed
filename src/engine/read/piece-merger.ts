import type { ArtifactPiece } from "../../protocol/large-members.ts";
import { isPlainText } from "../../protocol/merged-parts.ts";
import type { Part } from "../../protocol/part.ts";

/** How the stored spelling of a plain text part begins and ends. */
const TEXT_BEGINS = '{"text":"';
const TEXT_ENDS = '"}';
const QUOTE = '"';
const BACKSLASH = 92;

/**
 * Merges adjacent plain text parts of an artifact that is read in pieces, as a fold does, without holding a whole text: a text may be
 * taken before its end and goes on in the next piece.
 */
export class PieceMerger {
  /** The rest of a text that was taken in part. It comes before `#parts`. */
  #rest: ArtifactPiece | undefined;
  #parts: string[] = [];
  /** The plain text at the end, as pieces of a JSON string. */
  #text: string[] = [];
  /** The beginning of that text was taken already. */
  #isTextOpen = false;
  #isEmpty = true;
  #hasEmptyText = false;
  #length = 0;

  /** Characters that wait to be taken. */
  get length(): number {
    return this.#length;
  }

  /** Parts in their stored spelling, separated by commas. */
  add(stored: string): void {
    if (isOnePlainText(stored)) {
      this.#addText(stored.slice(TEXT_BEGINS.length, -TEXT_ENDS.length));
      return;
    }
    // Safe: stored texts are made here.
    for (const part of JSON.parse(`[${stored}]`) as readonly Part[]) {
      if (isPlainText(part)) this.#addText(JSON.stringify(part.text).slice(1, -1));
      else this.#addPart(JSON.stringify(part));
    }
  }

  /** Takes what there is; a text at its end may go on in what is taken next. */
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

  /** Takes what is left when there is no more to add. */
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
    else if (json !== "") this.#parts.push(TEXT_BEGINS + json + TEXT_ENDS);
    this.#text = [];
    this.#isTextOpen = false;
  }
}

/** Whether the stored parts are one plain text, found without parsing them. */
function isOnePlainText(stored: string): boolean {
  if (!stored.startsWith(TEXT_BEGINS)) return false;
  let end = stored.indexOf(QUOTE, TEXT_BEGINS.length);
  while (end !== -1 && isEscaped(stored, end)) end = stored.indexOf(QUOTE, end + 1);
  return end === stored.length - TEXT_ENDS.length && stored.endsWith(TEXT_ENDS);
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text.charCodeAt(index - 1 - backslashes) === BACKSLASH) backslashes += 1;
  return backslashes % 2 === 1;
}
