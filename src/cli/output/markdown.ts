/** Characters after which an opened `**`, `` ` `` or `[` is taken as it is. */
const LONGEST_SPAN = 500;
/** The beginning of a line that may still become a heading, a list, a quote, a rule or a fence. */
const MAYBE_BLOCK = /^\s*(?:#{1,6}|[-*+_=]{1,80}|\d{1,9}[.)]?|>|`{1,2}|~{1,2})?$/;
const FENCE = /^\s*(?:```|~~~)/;
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;

const [BOLD, DIM, ITALIC, UNDERLINE, CYAN] = [1, 2, 3, 4, 36];

/** A piece of a line that has a style, and how to show it. */
const SPANS: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/^\*\*(\S(?:.*?\S)?)\*\*/, (text) => styled(inline(text), BOLD)],
  [/^__(\S(?:.*?\S)?)__(?!\w)/, (text) => styled(inline(text), BOLD)],
  [/^\*([^\s*](?:[^*]*[^\s*])?)\*(?=[^*])/, (text) => styled(inline(text), ITALIC)],
  [/^_([^\s_](?:[^_]*[^\s_])?)_(?=[^\w])/, (text) => styled(inline(text), ITALIC)],
  [/^`([^`]+)`/, (text) => styled(text, CYAN)],
  [/^\[([^\]]+)\]\(([^)\s]+)\)/, (text, url) => `${styled(inline(text), UNDERLINE)} ${styled(`(${url})`, DIM)}`],
];
const MARKERS = /[*_`[]/;

/**
 * Shows Markdown on a terminal while it arrives: headings, lists, quotes, code, emphasis and links. The text must be free of control characters. Everything else, such
 * as tables, is shown as it is.
 */
export class MarkdownWriter {
  /** Text of the current line that is not shown yet. */
  #held = "";
  /** Nothing of the current line is shown yet. */
  #isLineStart = true;
  #isCode = false;
  #isHeading = false;
  /** The last character that was shown. */
  #before = "";

  /** What to write for the next piece of text. */
  feed(text: string): string {
    const lines = `${this.#held}${text}`.split("\n");
    this.#held = "";
    const last = lines.pop() ?? "";
    return lines.map((line) => this.#line(line, true)).join("") + this.#line(last, false);
  }

  /** What is left, at the end of the text. */
  end(): string {
    const rest = this.#held;
    this.#held = "";
    const shown = rest === "" ? "" : this.#shown(rest, true);
    const isOpen = this.#isHeading;
    this.#reset();
    return isOpen ? `${shown}${OFF}` : shown;
  }

  #line(text: string, isWhole: boolean): string {
    if (!isWhole && text === "") return "";
    if (!isWhole) return this.#shown(text, false);
    if (this.#isLineStart && FENCE.test(text)) {
      this.#isCode = !this.#isCode;
      return "";
    }
    if (this.#isLineStart && !this.#isCode && RULE.test(text)) return `${styled("─".repeat(40), DIM)}\n`;
    const shown = this.#shown(text, true);
    const isOpen = this.#isHeading;
    this.#reset();
    return isOpen ? `${shown}${OFF}\n` : `${shown}\n`;
  }

  /** Holds back what more text could change. */
  #shown(text: string, isWhole: boolean): string {
    if (this.#isCode) {
      if (this.#isLineStart && !isWhole && /^\s*[`~]*$/.test(text)) return this.#hold(text);
      const indent = this.#isLineStart ? "    " : "";
      this.#isLineStart = false;
      return `${indent}${styled(text, CYAN)}`;
    }
    let rest = text;
    let shown = "";
    if (this.#isLineStart) {
      if (!isWhole && (MAYBE_BLOCK.test(text) || FENCE.test(text))) return this.#hold(text);
      [shown, rest] = this.#block(text);
      this.#isLineStart = false;
    }
    return shown + this.#spans(rest, isWhole);
  }

  /** The beginning of a line, and the rest of it. */
  #block(text: string): readonly [string, string] {
    const [all, indent = "", mark = ""] = /^(\s*)(#{1,6}|[-*+]|\d{1,9}[.)]|>)\s+/.exec(text) ?? [];
    if (all === undefined) return ["", text];
    const rest = text.slice(all.length);
    if (mark.startsWith("#")) {
      this.#isHeading = true;
      return [ON(BOLD), rest];
    }
    if (mark === ">") return [`${indent}${styled("│", DIM)} `, rest];
    return [`${indent}${/\d/.test(mark) ? mark : "•"} `, rest];
  }

  #spans(text: string, isWhole: boolean): string {
    let shown = "";
    for (let rest = text; rest !== ""; ) {
      const at = rest.search(MARKERS);
      const plain = at === -1 ? rest : rest.slice(0, at);
      shown += plain;
      this.#before = plain.at(-1) ?? this.#before;
      rest = rest.slice(plain.length);
      if (rest === "") break;
      const span = /[\w]/.test(this.#before) && rest.startsWith("_") ? undefined : spanOf(rest, isWhole);
      if (span === undefined && !isWhole && rest.length < LONGEST_SPAN) return shown + this.#hold(rest);
      shown += span?.shown ?? rest.slice(0, 1);
      this.#before = (span?.source ?? rest).at(span === undefined ? 0 : -1) ?? "";
      rest = rest.slice(span?.source.length ?? 1);
      if (this.#isHeading && span !== undefined) shown += ON(BOLD);
    }
    return shown;
  }

  #hold(text: string): string {
    this.#held = text;
    return "";
  }

  #reset(): void {
    this.#isLineStart = true;
    this.#isHeading = false;
    this.#before = "";
  }
}

const OFF = "\u001b[0m";

function ON(code: number): string {
  return `\u001b[${code}m`;
}

function styled(text: string, code: number): string {
  return text === "" ? "" : `${ON(code)}${text}${OFF}`;
}

/** The span at the beginning of a text. */
function spanOf(text: string, isWhole: boolean): { readonly source: string; readonly shown: string } | undefined {
  // The end of a line counts as a character after the span.
  const searched = isWhole ? `${text} ` : text;
  for (const [pattern, show] of SPANS) {
    const found = pattern.exec(searched);
    if (found !== null) return { source: found[0], shown: show(...found.slice(1)) };
  }
  return undefined;
}

/** A whole text within a span: code in bold text, for example. */
function inline(text: string): string {
  let shown = "";
  for (let rest = text; rest !== ""; ) {
    const span = MARKERS.test(rest[0] ?? "") ? spanOf(rest, true) : undefined;
    shown += span?.shown ?? rest[0];
    rest = rest.slice(span?.source.length ?? 1);
  }
  return shown;
}
