// Reads Markdown as data. The text comes from agents and is never trusted: there is no HTML in the result, and links have http or https URLs only.

/** A piece of a line. */
export type Inline =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly url: string; readonly children: readonly Inline[] }
  | { readonly kind: "break" };

/** A paragraph, a list, … */
export type Block =
  | { readonly kind: "paragraph"; readonly children: readonly Inline[] }
  | { readonly kind: "heading"; readonly level: number; readonly children: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string }
  | {
      readonly kind: "list";
      readonly ordered: boolean;
      readonly start: number;
      readonly items: readonly (readonly Block[])[];
    }
  | { readonly kind: "quote"; readonly children: readonly Block[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

/** Quotes and lists deeper than this are text. */
const MAX_DEPTH = 8;

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(\s+|$)/;
const TABLE_LINE = /^\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$/;

/** The blocks of a text. */
export function parseMarkdown(text: string, depth: number = 0): readonly Block[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const blocks: Block[] = [];
  let index = 0;
  while (index < lines.length) {
    const line = lines[index] ?? "";
    if (line.trim() === "") {
      index += 1;
      continue;
    }
    const [block, next] = blockAt(lines, index, depth);
    blocks.push(block);
    index = next;
  }
  return blocks;
}

type Found = readonly [block: Block, next: number];

function blockAt(lines: readonly string[], index: number, depth: number): Found {
  const line = lines[index] ?? "";
  const fence = FENCE.exec(line);
  if (fence !== null) return codeAt(lines, index, fence);
  const heading = HEADING.exec(line);
  if (heading !== null)
    return [{ kind: "heading", level: heading[1]?.length ?? 1, children: parseInline(heading[2] ?? "") }, index + 1];
  if (RULE.test(line)) return [{ kind: "rule" }, index + 1];
  if (depth < MAX_DEPTH && QUOTE.test(line)) return quoteAt(lines, index, depth);
  if (depth < MAX_DEPTH && ITEM.test(line)) return listAt(lines, index, depth);
  if (line.includes("|") && TABLE_LINE.test(lines[index + 1] ?? "") && (lines[index + 1] ?? "").includes("-"))
    return tableAt(lines, index);
  return paragraphAt(lines, index, depth);
}

function codeAt(lines: readonly string[], index: number, [, mark = "```", language = ""]: RegExpExecArray): Found {
  const end = lines.findIndex(
    (line, at) => at > index && line.trim().startsWith(mark) && line.trim().replaceAll(mark[0] ?? "`", "") === "",
  );
  const last = end === -1 ? lines.length : end;
  return [{ kind: "code", language, text: lines.slice(index + 1, last).join("\n") }, last + 1];
}

function quoteAt(lines: readonly string[], index: number, depth: number): Found {
  let end = index;
  while (end < lines.length && QUOTE.test(lines[end] ?? "")) end += 1;
  const inner = lines.slice(index, end).map((line) => line.replace(QUOTE, ""));
  return [{ kind: "quote", children: parseMarkdown(inner.join("\n"), depth + 1) }, end];
}

function listAt(lines: readonly string[], index: number, depth: number): Found {
  const first = ITEM.exec(lines[index] ?? "");
  const ordered = first?.[3] !== undefined;
  const items: string[][] = [];
  let indent = 2;
  let at = index;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const item = ITEM.exec(line);
    const isNested = items.length > 0 && (item?.[1]?.length ?? 0) >= indent;
    if (item !== null && !isNested && (item[3] !== undefined) === ordered) {
      indent = item[0].length;
      items.push([line.slice(indent)]);
    } else if (line.trim() === "") {
      const next = lines[at + 1] ?? "";
      const goesOn = ITEM.test(next) || /^\s{2,}\S/.test(next);
      if (!goesOn) break;
      items.at(-1)?.push("");
    } else if (/^\s/.test(line)) items.at(-1)?.push(line.replace(new RegExp(`^\\s{1,${indent}}`), ""));
    else if ((lines[at - 1] ?? "").trim() === "" || startsBlock(line)) break;
    else items.at(-1)?.push(line);
  }
  return [
    {
      kind: "list",
      ordered,
      start: Number(first?.[3] ?? 1),
      items: items.map((item) => parseMarkdown(item.join("\n"), depth + 1)),
    },
    at,
  ];
}

function startsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}

function tableAt(lines: readonly string[], index: number): Found {
  let end = index + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|") && (lines[end] ?? "").trim() !== "") end += 1;
  const head = cellsOf(lines[index] ?? "");
  const rows = lines.slice(index + 2, end).map((line) => {
    const cells = cellsOf(line);
    return head.map((_, column) => cells[column] ?? []);
  });
  return [{ kind: "table", head, rows }, end];
}

function cellsOf(line: string): readonly (readonly Inline[])[] {
  const bare = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return bare.split("|").map((cell) => parseInline(cell.trim()));
}

function paragraphAt(lines: readonly string[], index: number, depth: number): Found {
  let end = index + 1;
  while (
    end < lines.length &&
    (lines[end] ?? "").trim() !== "" &&
    !(depth < MAX_DEPTH && startsBlock(lines[end] ?? ""))
  )
    end += 1;
  return [{ kind: "paragraph", children: parseInline(lines.slice(index, end).join("\n").trim()) }, end];
}

/** What begins at a position: code, a link, emphasis, a bare URL, a line break, an escaped character. Without nested repetition, so it is linear. */
const INLINE =
  /(?<escaped>\\[!-/:-@[-`{-~])|(?<ticks>`+)|!?\[(?<label>[^[\]\n]{1,500})\]\((?<target>[^()\s]{1,2000})(?:\s+"[^"\n]{0,500}")?\)|(?<bare>https?:\/\/[^\s<>"'`]{1,2000})|(?<mark>\*\*|__|~~|\*|_)|(?<end>(?: {2,}|\\)?\n)/g;

/** The pieces of a paragraph. */
export function parseInline(text: string, depth: number = 0): readonly Inline[] {
  const pieces: Inline[] = [];
  const matcher = new RegExp(INLINE.source, "g");
  let from = 0;
  const flush = (to: number): void => {
    if (to > from) pieces.push({ kind: "text", text: text.slice(from, to) });
  };
  for (let found = matcher.exec(text); found !== null; found = matcher.exec(text)) {
    const taken = pieceAt(text, found, depth);
    if (taken === undefined) continue;
    flush(found.index);
    pieces.push(taken.piece);
    from = found.index + taken.length;
    matcher.lastIndex = from;
  }
  flush(text.length);
  return pieces;
}

interface Taken {
  readonly piece: Inline;
  readonly length: number;
}

function pieceAt(text: string, found: RegExpExecArray, depth: number): Taken | undefined {
  const { escaped, ticks, label, target, bare, mark, end } = found.groups ?? {};
  const [whole] = found;
  if (escaped !== undefined) return { piece: { kind: "text", text: escaped.slice(1) }, length: 2 };
  if (end !== undefined)
    return { piece: end.length > 1 ? { kind: "break" } : { kind: "text", text: "\n" }, length: end.length };
  if (ticks !== undefined) return codeSpan(text, found.index, ticks);
  if (label !== undefined && target !== undefined) {
    const url = safeUrl(target);
    const children = depth < MAX_DEPTH ? parseInline(label, depth + 1) : [{ kind: "text", text: label } as const];
    return url === undefined ? undefined : { piece: { kind: "link", url, children }, length: whole.length };
  }
  if (bare !== undefined) {
    const shown = bare.replace(/[.,;:!?)\]}*_~]+$/, "");
    const url = safeUrl(shown);
    return url === undefined
      ? undefined
      : { piece: { kind: "link", url, children: [{ kind: "text", text: shown }] }, length: shown.length };
  }
  return mark === undefined || depth >= MAX_DEPTH ? undefined : marked(text, found.index, { mark, depth });
}

function codeSpan(text: string, index: number, ticks: string): Taken | undefined {
  const end = text.indexOf(ticks, index + ticks.length);
  if (end === -1) return undefined;
  const code = text.slice(index + ticks.length, end).replaceAll("\n", " ");
  return {
    piece: { kind: "code", text: code.trim() === "" ? code : code.replace(/^ (.*) $/, "$1") },
    length: end + ticks.length - index,
  };
}

function marked(
  text: string,
  index: number,
  { mark, depth }: { readonly mark: string; readonly depth: number },
): Taken | undefined {
  const start = index + mark.length;
  const end = text.indexOf(mark, start + 1);
  if (end === -1 || end - start > 2000) return undefined;
  const inner = text.slice(start, end);
  // `2 * 3 * 4` and `snake_case_name` are not emphasis.
  if (/^\s|\s$/.test(inner)) return undefined;
  if (mark.startsWith("_") && (/\w/.test(text[index - 1] ?? "") || /\w/.test(text[end + mark.length] ?? "")))
    return undefined;
  const kind = mark === "~~" ? "deleted" : mark.length === 2 ? "strong" : "emphasis";
  return { piece: { kind, children: parseInline(inner, depth + 1) }, length: end + mark.length - index };
}

/** The URL if it is an absolute http or https URL; `undefined` for `javascript:`, `data:`, relative and all other URLs. */
export function safeUrl(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") ? url.href : undefined;
}
